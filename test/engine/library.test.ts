import {
  createHoldfast,
  type Holdfast,
  importThreads,
  memory,
  readImport,
  type Store,
} from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../postgres/test-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => memory(),
  sqlite: async () => sqlite(temporaryFile()),
  postgres: async () => (await openTestDatabase()).open(),
}

async function start(open: () => Promise<Store>): Promise<Holdfast> {
  const store = await open()
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => [{ text: 'Hello.' }]),
    recoverEveryMs: 0,
  })
  onTestFinished(async () => {
    await holdfast.close()
    await store.close()
  })
  return holdfast
}

const text = (words: string) => [{ type: 'text', text: words }] as const
const user = (id: string, words: string) => ({ id, role: 'user', parts: text(words) }) as const
const ana = { ownerId: 'ana' }
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'no error',
    (error: unknown) => (error as { readonly code?: unknown }).code,
  )

describe.each(Object.entries(stores))('the library on %s', (_, open) => {
  it('[OP5] makes, gives, lists, changes and deletes threads by plain strings, an owner’s own', async () => {
    const holdfast = await start(open)
    const { threads } = holdfast
    const made = await threads.create({ id: 't1', ownerId: 'ana', title: 'One' })
    expect(made).toMatchObject({
      kind: 'created',
      thread: { id: 't1', title: 'One', metadata: {} },
    })
    expect(await threads.create({ id: 't1', ownerId: 'ana' })).toMatchObject({ kind: 'exists' })
    expect(await threads.create({ id: 't1', ownerId: 'ben' })).toEqual({ kind: 'taken' })
    const other = await threads.create({ ownerId: 'ana' })
    const otherId = other.kind === 'created' ? other.thread.id : ''

    expect((await threads.list(ana)).results.map(({ id }) => id)).toEqual([otherId, 't1'])
    const first = await threads.list({ ...ana, limit: 1 })
    expect(first).toMatchObject({ results: [{ id: otherId }], hasMore: true })
    const cursor = first.nextCursor ?? ''
    const second = await threads.list({ ...ana, limit: 1, cursor })
    expect(second).toMatchObject({ results: [{ id: 't1' }], nextCursor: null, hasMore: false })
    expect(await codeOf(threads.list({ ownerId: 'ben', cursor }))).toBe('bad-cursor')
    expect(await codeOf(threads.list({ ...ana, limit: 0 }))).toBe('bad-limit')

    expect(await threads.get('t1')).toMatchObject({ ownerId: 'ana' })
    expect(await threads.get('t1', { ownerId: 'ben' })).toBeNull()
    expect(await threads.get('nobody')).toBeNull()
    expect(await codeOf(threads.get(''))).toBe('bad-id')
    expect(await codeOf(threads.create({ id: '..', ownerId: 'ana' }))).toBe('bad-id')
    // One from before that was so is read, exported and deleted as any other.
    await holdfast.store.createThread({ id: '.', ownerId: 'ana', title: 'Dot', at: 1 })
    expect(await threads.get('.')).toMatchObject({ title: 'Dot' })
    expect((await holdfast.messages('.'))?.results).toEqual([])
    expect(await threads.delete('.')).toBe(true)
    expect(await codeOf(threads.get('t1', { ownerId: '' }))).toBe('bad-id')

    expect(await threads.update('t1', { title: 'Two' }, { ownerId: 'ben' })).toBeNull()
    expect(await threads.update('t1', { title: 'Two' }, ana)).toMatchObject({ title: 'Two' })
    expect(await codeOf(threads.update('t1', { title: 'x'.repeat(501) }))).toBe('bad-request')
    expect(await codeOf(threads.update('t1', { tilte: 'x' } as never))).toBe('bad-request')

    expect(await threads.delete('t1', { ownerId: 'ben' })).toBe(false)
    expect(await threads.delete('t1', ana)).toBe(true)
    expect(await threads.delete('t1')).toBe(false)
    expect((await threads.list(ana)).results.map(({ id }) => id)).toEqual([otherId])
  })

  it('[OP5b] keeps metadata, finds threads by it, and loses no change of two at once', async () => {
    const { threads } = await start(open)
    for (const [index, stage] of ['new', 'open', 'new', 'done', 'new'].entries()) {
      await threads.create({ id: `t${index}`, ownerId: 'ana', metadata: { stage, index } })
    }
    await threads.create({ id: 'ben', ownerId: 'ben', metadata: { stage: 'new' } })
    const found = { ...ana, metadata: { stage: 'new' }, limit: 2 }
    const page = await threads.list(found)
    expect(page.results.map(({ id }) => id)).toEqual(['t4', 't2'])
    const rest = await threads.list({ ...found, cursor: page.nextCursor ?? '' })
    expect(rest).toMatchObject({ results: [{ id: 't0' }], nextCursor: null, hasMore: false })
    expect(await codeOf(threads.list({ ...ana, cursor: page.nextCursor ?? '' }))).toBe('bad-cursor')
    const none = await threads.list({ ...ana, metadata: { stage: 'new', index: 1 } })
    expect(none).toEqual({ results: [], nextCursor: null, hasMore: false })

    const before = await threads.get('t0')
    const keys = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(
      keys.map((key) =>
        threads.update('t0', ({ metadata }) => ({ metadata: { ...metadata, [key]: true } })),
      ),
    )
    const after = await threads.get('t0')
    expect(after).toEqual({
      ...before,
      metadata: { stage: 'new', index: 0, a: true, b: true, c: true, d: true, e: true },
    })
    for (const metadata of [null, [], 'x', { big: 'x'.repeat(16_384) }, { n: 1n }]) {
      expect(await codeOf(threads.update('t0', { metadata: metadata as never }))).toBe(
        'bad-request',
      )
    }
    expect(await threads.get('t0')).toEqual(after)
  })

  it('[OP5 PG4] takes the cursor of a page as the page has it: null is the first page; what is no text is refused', async () => {
    const holdfast = await start(open)
    await holdfast.send({ threadId: 't1', message: { parts: text('Hi') }, create: ana })
    await holdfast.settled('t1')
    const made = await holdfast.shares.create('t1')
    if (made.kind !== 'shared') throw new Error(made.kind)
    const shareId = made.share.id
    const reads: readonly ((cursor?: string | null) => Promise<unknown>)[] = [
      (cursor = null) => holdfast.messages('t1', { cursor }),
      (cursor = null) => holdfast.threads.list({ ...ana, cursor }),
      (cursor = null) => holdfast.search({ ...ana, q: 'hi', cursor }),
      (cursor = null) => holdfast.shares.messages(shareId, { cursor }),
    ]
    const firsts = [
      await holdfast.messages('t1'),
      await holdfast.threads.list(ana),
      await holdfast.search({ ...ana, q: 'hi' }),
      await holdfast.shares.messages(shareId),
    ]
    expect(await Promise.all(reads.map((read) => read()))).toEqual(firsts)
    const codes = await Promise.all(reads.map((read) => codeOf(read(5 as never))))
    expect(codes).toEqual(reads.map(() => 'bad-cursor'))
  })

  it('[OP5] reads messages in every format, page by page, and only to their owner', async () => {
    const holdfast = await start(open)
    await holdfast.send({
      threadId: 't1',
      message: { id: 'u1', parts: text('Hi') },
      create: { ownerId: 'ana', title: '' },
    })
    await holdfast.settled('t1')
    const page = await holdfast.messages('t1', { limit: 1, ...ana })
    expect(page).toMatchObject({
      results: [{ role: 'assistant', parts: [{ type: 'step-start' }, { text: 'Hello.' }] }],
      hasMore: true,
    })
    const next = await holdfast.messages('t1', { limit: 1, cursor: page?.nextCursor ?? '' })
    expect(next).toMatchObject({ results: [{ id: 'u1', role: 'user' }], hasMore: false })
    const chat = await holdfast.messages('t1', { format: 'chat', order: 'oldest-first' })
    expect(chat?.results.map(({ content }) => content)).toEqual(['Hi', 'Hello.'])
    const entities = await holdfast.messages('t1', { format: 'entities' })
    expect(entities?.results.map(({ entity }) => entity)).toEqual(['AI_MESSAGE', 'USER'])
    const live = await holdfast.messages('t1', { format: 'ledger', live: 'exclude' })
    expect(live).toMatchObject({ live: null, seq: page?.seq, results: [{}, {}] })

    expect(await holdfast.messages('t1', { ownerId: 'ben' })).toBeNull()
    expect(await holdfast.messages('nobody')).toBeNull()
    expect(await codeOf(holdfast.messages('t1', { limit: 201 }))).toBe('bad-limit')
    expect(await codeOf(holdfast.messages('t1', { format: 'xml' as never }))).toBe('bad-request')
    expect(await codeOf(holdfast.messages('t1', { page: 1 } as never))).toBe('bad-request')
    expect(await codeOf(holdfast.messages('t\u0000'))).toBe('bad-id')
  })

  it('[OP5a] a message that is posted is stored once and not answered, an assistant’s too', async () => {
    const holdfast = await start(open)
    const create = { ownerId: 'ana', title: 'Orders' }
    expect(await holdfast.post('t1', user('u1', 'Hi'))).toEqual({ kind: 'no-thread' })
    expect(await holdfast.post('t1', user('u1', 'Hi'), { create })).toEqual({
      kind: 'stored',
      messageId: 'u1',
      seq: 1,
    })
    const parts = [
      { type: 'reasoning', text: 'Tell her.' },
      { type: 'text', text: 'Your order is on its way.' },
      { type: 'source-url', sourceId: 's', url: 'https://example.com/orders' },
      { type: 'data-order', id: 'o', data: { number: 7 } },
    ] as const
    const notice = { id: 'a1', role: 'assistant', parts, metadata: { job: 'ship' } } as const
    const stored = await holdfast.post('t1', notice, ana)
    expect(stored).toMatchObject({ kind: 'stored', messageId: 'a1' })
    const seq = (await holdfast.threads.get('t1'))?.seq
    expect(await holdfast.post('t1', notice)).toMatchObject({ kind: 'repeated', messageId: 'a1' })
    expect(await holdfast.post('t1', user('u1', 'Hi'))).toMatchObject({ kind: 'repeated' })
    for (const other of [
      user('u1', 'Other'),
      user('a1', 'Hi'),
      { ...user('u1', 'Hi'), metadata: 1 },
      { ...notice, id: 'u1' },
      { ...notice, metadata: {} },
      { ...notice, parts: text('Other') },
    ]) {
      expect(await codeOf(holdfast.post('t1', other))).toBe('conflict')
    }
    await holdfast.threads.create({ id: 't2', ownerId: 'ben' })
    expect(await codeOf(holdfast.post('t2', notice))).toBe('conflict')
    expect(await holdfast.post('t2', user('u1', 'Hi'), ana)).toEqual({ kind: 'no-thread' })
    expect(await holdfast.post('t2', user('u1', 'Hi'), { create })).toEqual({ kind: 'no-thread' })
    expect((await holdfast.threads.get('t1'))?.seq).toBe(seq)
    expect(holdfast.running()).toEqual([])

    const page = await holdfast.messages('t1', { sdk: 7 })
    expect(page?.results).toMatchObject([
      {
        id: 'a1',
        role: 'assistant',
        metadata: { job: 'ship' },
        parts: [{ type: 'step-start' }, ...parts],
      },
      { id: 'u1', role: 'user' },
    ])
    const [prompt] = (await holdfast.modelMessages('t1')).filter(({ role }) => role === 'assistant')
    expect(JSON.stringify(prompt)).toContain('Your order is on its way.')
    await holdfast.send({ threadId: 't1', message: { id: 'u2', parts: text('Thanks') } })
    await holdfast.settled('t1')
    expect((await holdfast.messages('t1', { format: 'chat' }))?.results[0]?.content).toBe('Hello.')
  })

  it('[OP5] what is exported is imported as it was, with metadata; an owner’s alone', async () => {
    const holdfast = await start(open)
    const create = { ownerId: 'ana', title: 'One' }
    await holdfast.post('t1', user('u1', 'Hi'), { create })
    await holdfast.threads.update('t1', { metadata: { stage: 'new' } })
    await holdfast.post('t2', user('u2', 'Hi'), { create: { ownerId: 'ben' } })
    const read = async (query: Parameters<Holdfast['export']>[0]) =>
      JSON.parse((await Array.fromAsync(holdfast.export(query))).join('')) as {
        threads: { id: string; metadata?: unknown; messages: unknown[] }[]
      }
    const one = await read({ ownerId: 'ana' })
    expect(one.threads).toMatchObject([{ id: 't1', metadata: { stage: 'new' }, messages: [{}] }])
    expect((await read({ threadId: 't2', format: 'chat' })).threads).toMatchObject([{ id: 't2' }])
    const document = JSON.stringify(one).replaceAll('t1', 'copy')
    for (const trustsOwners of [false, true]) {
      await holdfast.threads.delete('copy')
      const source = readImport(
        (async function* () {
          yield document
        })(),
      )
      await importThreads(holdfast.store, source, { ownerId: 'cleo', trustsOwners })
      expect(await holdfast.threads.get('copy')).toMatchObject(
        trustsOwners
          ? { ownerId: 'ana', title: 'One', metadata: { stage: 'new' } }
          : { ownerId: 'cleo', title: 'One', metadata: {} },
      )
    }
    const refused = { threadId: 't2', ...ana }
    expect(await codeOf(read(refused))).toBe('thread-not-found')
    expect(await codeOf(read({ format: 'xml' as never }))).toBe('bad-request')
  })
})
