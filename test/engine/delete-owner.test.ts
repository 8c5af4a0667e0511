import { tool } from 'ai'
import { createHoldfast, type Holdfast, memory, type Store } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { openTestDatabase } from '../postgres/test-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { gate } from './fixture.ts'

/** Two servers: on one store object, or each on its own connection to one database. */
const pairs: Readonly<Record<string, () => Promise<readonly [Store, Store]>>> = {
  memory: async () => {
    const store = memory()
    return [store, store]
  },
  sqlite: async () => {
    const file = temporaryFile()
    return [sqlite(file), sqlite(file)]
  },
  postgres: async () => {
    const database = await openTestDatabase()
    return [database.open(), database.open()]
  },
}

/** Its tool waits until it is told to stop, or until the test lets it go on. */
function serve(store: Store) {
  const began = gate()
  const told = gate()
  const release = gate()
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ prompt }) =>
      JSON.stringify(prompt).includes('wait') && prompt.at(-1)?.role === 'user'
        ? [{ call: 'wait', input: {} }]
        : [{ text: 'Done.' }],
    ),
    tools: {
      wait: tool({
        inputSchema: z.object({}),
        async execute(_, { abortSignal }) {
          began.open()
          const aborted = new Promise<void>((resolve) => {
            abortSignal?.addEventListener('abort', () => resolve())
          })
          await Promise.race([aborted.then(told.open), release.opened])
          return 'waited'
        },
      }),
    },
    hooks: () => {},
    recoverEveryMs: 0,
  })
  onTestFinished(async () => {
    release.open()
    await holdfast.close()
  })
  return { holdfast, began, told, release }
}

const send = (holdfast: Holdfast, threadId: string, ownerId: string, text: string) =>
  holdfast.send({
    threadId,
    message: { id: `of-${threadId}`, parts: [{ type: 'text', text }] },
    create: { ownerId, title: '' },
  })

describe.each(Object.entries(pairs))('on %s', (_, openPair) => {
  it('[OP5c] deletes all that an owner has, ends runs on every server, and leaves others alone', async () => {
    const stores = await openPair()
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const [one, other] = [serve(stores[0]), serve(stores[1])]
    for (const id of ['a1', 'a2', 'a3']) await send(one.holdfast, id, 'ana', 'Hi')
    await send(other.holdfast, 'b1', 'ben', 'wait')
    await one.holdfast.settled()
    await send(one.holdfast, 'a4', 'ana', 'wait')
    await Promise.all([one.began.opened, other.began.opened])
    const followed = Array.fromAsync(one.holdfast.subscribe('a4', 0)).catch(() => 'broken')

    const receipt = await other.holdfast.deleteOwner('ana')
    const { deletedAt } = receipt
    expect(receipt).toEqual({ ownerId: 'ana', threads: 4, messages: 8, deletedAt })
    expect(Number.isSafeInteger(deletedAt)).toBe(true)
    await one.told.opened
    await one.holdfast.settled()
    await followed
    for (const id of ['a1', 'a2', 'a3', 'a4']) {
      expect(await one.holdfast.threads.get(id)).toBeNull()
      expect(await one.holdfast.messages(id)).toBeNull()
    }
    expect((await one.holdfast.threads.list({ ownerId: 'ana' })).results).toEqual([])
    expect(await other.holdfast.deleteOwner('ana')).toMatchObject({ threads: 0, messages: 0 })

    other.release.open()
    await other.holdfast.settled()
    const page = await other.holdfast.messages('b1', { format: 'chat', ownerId: 'ben' })
    expect(page?.results[0]).toMatchObject({ role: 'assistant', content: 'Done.' })

    // The same ids begin anew, for whoever takes them.
    expect(await send(one.holdfast, 'a4', 'ben', 'Hi')).toMatchObject({ kind: 'started' })
    await one.holdfast.settled()
    expect((await one.holdfast.threads.get('a4'))?.ownerId).toBe('ben')
  })

  it('[OP5a] a message that is posted beside an answer that is not over is not stored', async () => {
    const stores = await openPair()
    onTestFinished(async () => {
      for (const store of stores) await store.close()
    })
    const [one, other] = [serve(stores[0]), serve(stores[1])]
    await send(one.holdfast, 'a1', 'ana', 'wait')
    await one.began.opened
    const message = { id: 'p1', role: 'user', parts: [{ type: 'text', text: 'Wait!' }] } as const
    const refused = await other.holdfast.post('a1', message)
    expect(refused).toMatchObject({ kind: 'run-active' })
    one.release.open()
    await one.holdfast.settled()
    expect(await other.holdfast.post('a1', message)).toMatchObject({ kind: 'stored' })
    const page = await one.holdfast.messages('a1', { format: 'ledger' })
    expect(page?.results.map(({ id }) => id)).toEqual([
      'p1',
      refused.kind === 'run-active' ? refused.turnId : '',
      'of-a1',
    ])
  })
})
