import { setImmediate } from 'node:timers/promises'
import {
  checkStore,
  createHoldfast,
  importThreads,
  readImport,
  type Store,
  systemClock,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it } from 'vitest'
import { ledgerSql } from '../../src/store/sqlite/ledger-sql.ts'
import { shareSql } from '../../src/store/sqlite/share-records.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'
import { whenRun } from './when-run.ts'

const text = 'What was found, in a few words. '.repeat(32)

/** So long that one slice is never enough to delete it. */
async function writeLongThread(store: Store, id: string, turns = 1_000): Promise<void> {
  const messages = Array.from({ length: turns }, (_, nth) => [
    { id: `u-${nth}`, role: 'user', content: `Look at ${nth}.` },
    {
      id: `a-${nth}`,
      role: 'assistant',
      content: text,
      toolCalls: [{ id: `c-${nth}`, name: 'search', args: {}, result: text, status: 'completed' }],
    },
  ]).flat()
  async function* source() {
    yield JSON.stringify({ id, messages })
  }
  const report = await importThreads(store, readImport(source()), { ownerId: 'ann' })
  expect(report.failed).toEqual([])
}

/** How many turns of the event loop others have while work is done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  const over = new AbortController()
  const working = work().finally(() => over.abort())
  while (!over.signal.aborted) {
    await setImmediate()
    turns++
  }
  await working
  return turns
}

const tables = ['threads', 'messages', 'events', 'calls', 'search_texts', 'search_words'] as const

it('[OP7b OP5c] a long thread is exported, searched and deleted in many turns of the event loop', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await writeLongThread(store, 'long')
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => []),
    recoverEveryMs: 0,
  })
  const exported = await turnsDuring(async () => {
    for await (const _ of holdfast.export({ threadId: 'long' })) continue
  })
  const searched = await turnsDuring(() => holdfast.search({ ownerId: 'ann', q: 'found' }))
  const checked = await turnsDuring(() => checkStore(store))
  const deleted = await turnsDuring(() => holdfast.threads.delete('long'))
  expect(Math.min(exported, searched, checked, deleted)).toBeGreaterThan(3)
  const raw = openRaw(file)
  for (const table of tables) {
    const rows = raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()
    expect([table, rows]).toEqual([table, { rows: 0 }])
  }
  await holdfast.close()
})

it('[OP7b FK5] a link to a long thread is revoked at once, and its copy deleted in many turns of the event loop', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await writeLongThread(store, 'long', 3_000)
  const open = (of: Store) =>
    createHoldfast({ store: of, model: scriptedModel(() => []), recoverEveryMs: 0 })
  const holdfast = open(store)
  const share = async (): Promise<string> => {
    const made = await holdfast.shares.create('long')
    expect(made).toMatchObject({ kind: 'shared' })
    return (await holdfast.shares.list('long'))?.[0]?.id ?? ''
  }
  const raw = openRaw(file)
  const left = () =>
    ['shares', 'share_messages'].map(
      (table) => raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'],
    )
  const first = await share()
  expect(left()).toEqual([1, 6_000])
  expect(await turnsDuring(() => holdfast.shares.revoke('long', first))).toBeGreaterThan(3)
  expect(left()).toEqual([0, 0])

  // A process that dies meanwhile leaves the copy to the next, and nobody sees it.
  const second = await share()
  const begun = whenRun(shareSql.deleteSomeShareTexts)
  const revoking = store.shares?.remove('long', second).catch((error: unknown) => error)
  await begun
  await store.close()
  await holdfast.close()
  expect(await revoking).toMatchObject({ code: 'store-closed' })
  expect(left()).not.toEqual([0, 0])
  const next = openStore(file)
  expect(await open(next).shares.messages(second)).toBeNull()
  expect(await next.shares?.list('long')).toEqual([])
  await expect.poll(left, { timeout: 20_000 }).toEqual([0, 0])
})

it('[OP7b OP5c] a process that dies while it deletes leaves nothing that anybody sees, and the next finishes', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await writeLongThread(store, 'long')
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => []),
    recoverEveryMs: 0,
  })
  await holdfast.search({ ownerId: 'ann', q: 'found' })
  const begun = whenRun(ledgerSql.deleteSomeCalls)
  const deleting = store.deleteThread('long').catch((error: unknown) => error)
  await begun
  await store.close()
  await holdfast.close()
  expect(await deleting).toMatchObject({ code: 'store-closed' })
  const raw = openRaw(file)
  const left = () =>
    tables.map((table) => raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows'])
  expect(left()).not.toEqual(tables.map(() => 0))

  const next = openStore(file)
  expect(await next.readThread('long')).toBeNull()
  expect(await next.findTurn('a-999')).toBeNull()
  const found = createHoldfast({ store: next, model: scriptedModel(() => []), recoverEveryMs: 0 })
  expect((await found.search({ ownerId: 'ann', q: 'found' })).results).toEqual([])
  expect(await checkStore(next)).toMatchObject({ found: 0 })
  // Another thread gets a number of its own meanwhile.
  await next.createThread({ id: 'new', ownerId: 'ann', title: '', at: 1 })
  const query = {
    threadId: 'new',
    limit: 9,
    before: null,
    live: 'include',
    results: 'full',
  } as const
  expect((await next.readPage(query))?.messages).toEqual([])
  await expect.poll(left, { timeout: 20_000 }).toEqual([1, 0, 0, 0, 0, 0])
  await found.close()
})

it('[OP7b VR4] a long thread is forked in many turns of the event loop, and is there at once as a whole', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await writeLongThread(store, 'long')
  const holdfast = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
  const seen = new Set<unknown>()
  const forked = new AbortController()
  const looking = (async () => {
    while (!forked.signal.aborted) {
      const { results } = await holdfast.threads.list({ ownerId: 'ann' })
      seen.add(JSON.stringify(results.map(({ id, seq }) => [id, seq > 0])))
      await setImmediate()
    }
  })()
  const turns = await turnsDuring(() => holdfast.threads.fork('long', { id: 'copy' }))
  forked.abort()
  await looking
  expect(turns).toBeGreaterThan(3)
  for (const list of seen) {
    expect([
      JSON.stringify([['long', true]]),
      JSON.stringify([
        ['copy', true],
        ['long', true],
      ]),
    ]).toContain(list)
  }
  const texts = async (threadId: string) =>
    JSON.parse((await Array.fromAsync(holdfast.export({ threadId }))).join('')) as {
      readonly threads: readonly { readonly messages: readonly { readonly parts: unknown }[] }[]
    }
  const partsOf = async (threadId: string) =>
    JSON.stringify(
      (await texts(threadId)).threads[0]?.messages.map(({ parts }) => parts),
    ).replaceAll(/"(toolCallId|approvalId)":"[^"]*"/g, '')
  expect(await partsOf('copy')).toBe(await partsOf('long'))
  expect(await checkStore(store)).toMatchObject({ found: 0 })
  await holdfast.close()
})

it('[OP7b VR4] a process that dies while it forks leaves nothing that anybody sees, and nothing for long', async () => {
  const file = temporaryFile()
  let at = 1_000_000
  const store = openStore(file, { now: () => at })
  await writeLongThread(store, 'long')
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => []),
    recoverEveryMs: 0,
    clock: { ...systemClock, now: () => at },
  })
  const begun = whenRun(ledgerSql.insertMessage)
  const forking = holdfast.threads.fork('long', { id: 'copy' }).catch((error: unknown) => error)
  const raw = openRaw(file)
  const rows = (table: string) =>
    raw.prepare(`SELECT count(*) AS rows FROM ${table}`).get()?.['rows']
  await begun
  await store.close()
  expect(await forking).toMatchObject({ code: 'store-closed' })
  await holdfast.close()
  expect(rows('threads')).toBe(2)

  const next = openStore(file, { now: () => at })
  expect(await next.readThread('copy')).toBeNull()
  expect(await checkStore(next)).toMatchObject({ found: 0 })
  await next.close()
  expect(rows('threads')).toBe(2)
  at += 3_600_001
  openStore(file, { now: () => at })
  await expect
    .poll(() => [rows('threads'), rows('messages')], { timeout: 20_000 })
    .toEqual([1, 2_000])
})
