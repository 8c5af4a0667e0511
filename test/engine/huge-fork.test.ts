import { tool } from 'ai'
import { callsOf, checkStore, createHoldfast, type Holdfast, type Store } from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { createDatabase } from '../support/create-database.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { turnOf } from './fixture.ts'

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  sqlite: async () => sqlite(temporaryFile()),
  postgres: async () => postgres((await createDatabase(inject('postgresUrl'))).url),
}
const results = 40

/** An answer of 16 MB: results that are larger than may be written at once, one that names a file, and a failure. */
async function writeHugeTurn(store: Store) {
  let url = ''
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) =>
      index === 0
        ? Array.from({ length: results }, (_, nth) => ({ call: 'look', input: { nth } }))
        : [{ text: 'Found.' }],
    ),
    tools: {
      look: tool({
        inputSchema: z.object({ nth: z.number() }),
        execute: ({ nth }) => {
          if (nth === 1) throw new Error('not there')
          return {
            nth,
            lines: Array.from({ length: 4_000 }, (_, line) => `${line}`.padEnd(98)),
            url,
          }
        },
      }),
    },
    recoverEveryMs: 0,
  })
  await holdfast.threads.create({ id: 'huge', ownerId: 'ann' })
  const content = new TextEncoder().encode('Hello')
  ;({ url } = await holdfast.files.add({ ownerId: 'ann', content }))
  const parts = [{ type: 'text', text: 'Look.' }] as const
  await holdfast.send({ threadId: 'huge', message: { id: 'u', parts } })
  await holdfast.settled()
  return { holdfast, fileId: url.split('/').at(-1) ?? '' }
}

async function lastTurn({ store }: Holdfast, threadId: string) {
  const query = { limit: 5, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage({ ...query, threadId })
  return turnOf(page?.messages[0] ?? null)
}

describe.each(Object.entries(stores))('an answer of 16 MB on %s', (_, open) => {
  it('[OP7b VR4 FL2] is exported and forked value by value, and its copy has all of it, its files too', async () => {
    const store = await open()
    const { holdfast, fileId } = await writeHugeTurn(store)
    const exported = await turnsDuring(async () => {
      for await (const _piece of holdfast.export({ threadId: 'huge' })) continue
    })
    const forked = await turnsDuring(async () => {
      const { kind } = await holdfast.threads.fork('huge', { id: 'copy' })
      expect(kind).toBe('forked')
    })
    // Each read of results is at most a megabyte.
    expect(Math.min(exported.turns, forked.turns)).toBeGreaterThan(15)
    const [original, copy] = [await lastTurn(holdfast, 'huge'), await lastTurn(holdfast, 'copy')]
    const values = (turn: typeof copy) => callsOf(turn).map(({ id: _id, ...call }) => call)
    expect(values(copy)).toEqual(values(original))
    expect(new Set(callsOf(copy).map(({ state }) => state))).toEqual(
      new Set(['succeeded', 'failed']),
    )
    expect(await holdfast.threads.fork('huge', { id: 'copy' })).toMatchObject({ kind: 'exists' })
    expect(await checkStore(store)).toMatchObject({ found: 0 })

    await holdfast.threads.delete('huge')
    await holdfast.files.collect()
    expect(await holdfast.files.get(fileId)).not.toBeNull()
    await holdfast.threads.delete('copy')
    await holdfast.files.collect()
    expect(await holdfast.files.get(fileId)).toBeNull()
    await holdfast.close()
    await store.close()
  })
})
