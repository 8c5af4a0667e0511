import { tool } from 'ai'
import {
  createHoldfast,
  type Holdfast,
  importThreads,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  readImport,
  type SearchResult,
} from 'holdfast'
import { postgres } from 'holdfast/postgres'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { commitAppend } from '../../src/store/commit-group.ts'
import type { Store } from '../../src/store/store.ts'
import { createRandom, type Random } from '../../src/testing/random.ts'
import {
  ana,
  append,
  at,
  createThread,
  ended,
  messageAdded,
  started,
  text,
  thread,
  turn,
  turnEvent,
  user,
} from '../../src/testing/store-rules/thread-script.ts'
import { matchesTerms, parseSearchTerms, toSearchWords } from '../../src/views/search-text.ts'
import { openTestDatabase } from '../postgres/test-database.ts'
import { openStore, temporaryFile } from '../sqlite/temporary-file.ts'
import { turnsDuring } from '../support/turns-during.ts'

const stores: Readonly<Record<string, () => Promise<Store> | Store>> = {
  memory: () => memory(),
  sqlite: () => openStore(temporaryFile()),
  postgres: async () => (await openTestDatabase()).open(),
}

const vocabulary = ['tea', 'Team', 'green', 'Grün', 'café', 'cafeteria', 'x1', 'x12', '東京', 'ok']
const pickWords = (random: Random): string =>
  Array.from({ length: 1 + random.int(4) }, () => random.pick(vocabulary)).join(
    random.pick([' ', ', ', '\n']),
  )

function openHoldfast(store: Store, random: Random): Holdfast {
  const model = scriptedModel(() => [{ text: pickWords(random) }])
  const holdfast = createHoldfast({ store, model, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  return holdfast
}

/** Everything that is shown to the owner, newest first as far as the clock tells. */
async function scan(holdfast: Holdfast, ownerId: string, query: string): Promise<string[]> {
  const terms = parseSearchTerms(query)!
  const isFound = (text: string) => matchesTerms(new Set(toSearchWords(text)), terms)
  const found: string[] = []
  const { results: threads } = await holdfast.threads.list({ ownerId, limit: 200 })
  for (const { id, title } of threads) {
    if (isFound(title)) found.push(`${id} title`)
    const page = await holdfast.messages(id, { ownerId, limit: 200 })
    for (const message of page?.results ?? []) {
      const texts = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
      if (isFound(texts.join('\n'))) found.push(`${id} ${message.id}`)
    }
  }
  return found.sort()
}

async function findAll(
  holdfast: Holdfast,
  ownerId: string,
  q: string,
  limit: number,
): Promise<SearchResult[]> {
  const found: SearchResult[] = []
  let cursor: string | null = null
  do {
    const page = await holdfast.search({
      ownerId,
      q,
      limit,
      ...(cursor === null ? {} : { cursor }),
    })
    expect(page.hasMore).toBe(page.nextCursor !== null)
    expect(page.results.length).toBeLessThanOrEqual(limit)
    found.push(...page.results)
    cursor = page.nextCursor
  } while (cursor !== null)
  return found
}

const nameOf = ({ threadId, messageId }: SearchResult) => `${threadId} ${messageId ?? 'title'}`

const versionIdsOf = (metadata: unknown): readonly string[] =>
  z.object({ versions: z.object({ ids: z.array(z.string()) }) }).safeParse(metadata).data?.versions
    .ids ?? []

describe.each(Object.keys(stores))('search in %s', (kind) => {
  it('[FK1] finds what a scan of all that is shown finds, whatever was edited, made anew, shown again, renamed and deleted', async () => {
    const random = createRandom(71)
    const store = await stores[kind]!()
    const holdfast = openHoldfast(store, random)
    const owners = ['ann', 'bob']
    const threads = owners.flatMap((ownerId) =>
      [1, 2, 3].map((number) => ({ ownerId, threadId: parseThreadId(`${ownerId}-${number}`) })),
    )
    let compared = 0
    for (let round = 0; round < 60; round++) {
      const { ownerId, threadId } = random.pick(threads)
      const send = async (replaces?: string) => {
        const id = `u${round}`
        const parts = [{ type: 'text', text: pickWords(random) }] as const
        const create = { ownerId: parseOwnerId(ownerId), title: pickWords(random) }
        const message = { id: parseMessageId(id), parts }
        const edit = replaces === undefined ? {} : { replaces: parseMessageId(replaces) }
        await holdfast.send({ threadId, message, create, ...edit })
      }
      const page = await holdfast.messages(threadId, { limit: 50 })
      const asked = page?.results.find(({ role }) => role === 'user')
      const action = random.int(8)
      if (page === null || asked === undefined || action < 3) await send()
      else if (action === 3) await send(asked.id)
      else if (action === 4) await holdfast.regenerate({ threadId })
      else if (action === 5) await holdfast.threads.update(threadId, { title: pickWords(random) })
      else if (action === 6 && random.chance(0.4)) await holdfast.threads.delete(threadId)
      else if (action === 7) {
        const others = page.results.flatMap(({ metadata }) => versionIdsOf(metadata))
        if (others.length > 0) await holdfast.show(threadId, random.pick(others))
      }
      await holdfast.settled()
      if (!random.chance(0.5)) continue
      const query = random.pick([...vocabulary, 'te', 'gru', 'caf', 'green te', 'x1 ', 'ok tea '])
      const found = await findAll(holdfast, ownerId, query, 1 + random.int(5))
      expect(found.map(nameOf).sort()).toEqual(await scan(holdfast, ownerId, query))
      expect(found.map(({ at }) => at)).toEqual(
        found.map(({ at }) => at).sort((left, right) => right - left),
      )
      for (const { snippet, ranges } of found) {
        const terms = parseSearchTerms(query)!
        const marked = ranges.map(([start, end]) => snippet.slice(start, end)).join(' ')
        expect(matchesTerms(new Set(toSearchWords(marked)), terms)).toBe(true)
      }
      compared += found.length
    }
    expect(compared).toBeGreaterThan(50)
  })

  it('[FK1] compares long words as a whole', async () => {
    const holdfast = openHoldfast(await stores[kind]!(), createRandom(1))
    const key = 'ключ0123456789abcdef'.repeat(20)
    for (const last of ['1', '2']) {
      const parts = [{ type: 'text', text: `key ${key}${last}` }] as const
      const create = { ownerId: ana, title: '' }
      await holdfast.post(thread, { id: last, role: 'user', parts }, { create })
    }
    const find = async (q: string) =>
      (await holdfast.search({ ownerId: ana, q })).results.map(({ messageId }) => messageId)
    expect(await find(`${key}1 `)).toEqual(['1'])
    expect(await find(`${key}3`)).toEqual([])
    expect(await find(key.slice(0, 300))).toEqual(['2', '1'])
  })

  it('[FK1] finds what an answer that waits for a person has said, from another process too', async () => {
    const store = await stores[kind]!()
    const random = createRandom(1)
    const holdfast = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'Papaya first.' }, { call: 'erase', input: {} }]),
      tools: { erase: tool({ inputSchema: z.object({}), execute: () => 'gone' }) },
      policies: { erase: { approval: 'always' } },
      recoverEveryMs: 0,
    })
    onTestFinished(() => holdfast.close())
    const threadId = parseThreadId('live-thread-1')
    await holdfast.send({
      threadId,
      message: { id: parseMessageId('u1'), parts: [{ type: 'text', text: 'mango' }] },
      create: { ownerId: parseOwnerId('ann'), title: '' },
    })
    await holdfast.settled()
    const other = openHoldfast(store, random)
    const found = await other.search({ ownerId: 'ann', q: 'papaya' })
    expect(found.results).toMatchObject([{ threadId, role: 'assistant', snippet: 'Papaya first.' }])
    expect((await other.search({ ownerId: 'bob', q: 'papaya' })).results).toEqual([])
  })
})

it.each(Object.keys(stores))(
  '[FK1 VR1] what was hidden when the index was made, and ended only then, is found once it is shown: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const holdfast = openHoldfast(store, createRandom(4))
    await createThread(store)
    await append(store, [messageAdded('plum'), started(), ...text('quince')])
    const kept = { after: 1, places: [2] }
    await append(store, [{ type: 'messages-retired', messageIds: [turn], kept, at }])
    await append(store, [ended()])
    const find = async (q: string) =>
      (await holdfast.search({ ownerId: ana, q })).results.map(({ messageId }) => messageId)
    expect([await find('plum'), await find('quince')]).toEqual([[user], []])
    expect(await holdfast.show(thread, turn)).toMatchObject({ kind: 'shown' })
    expect([await find('plum'), await find('quince')]).toEqual([[user], [turn]])
  },
)

it('[FK1 IN3] finds what joined an answer while it was made', async () => {
  const store = memory()
  const holdfast = openHoldfast(store, createRandom(4))
  await createThread(store)
  const parts = [{ type: 'text', text: 'and lychees' }] as const
  const messageId = parseMessageId('aside')
  await append(store, [
    messageAdded('plum'),
    started(),
    turnEvent({ type: 'step-started', step: 0 }),
  ])
  await append(store, [...text('quince'), turnEvent({ type: 'step-ended', finishReason: 'stop' })])
  await append(store, [turnEvent({ type: 'input-joined', messageId, parts }), ended()])
  const { results } = await holdfast.search({ ownerId: ana, q: 'lych' })
  expect(results).toMatchObject([{ messageId: turn, snippet: 'quince and lychees' }])
})

it('[FK1 HT3] the route answers one’s own alone, refuses what is no search, and says where there is none', async () => {
  const holdfast = openHoldfast(memory(), createRandom(3))
  const { search: _, ...bare } = memory()
  const handlers = [holdfast, openHoldfast(bare, createRandom(3))].map((each) =>
    createHandler(each, {
      authenticate: (request) => ({ id: request.headers.get('x-owner') ?? '' }),
    }),
  )
  const search = async (query: string, owner = 'ann', handler = handlers[0]!) => {
    const url = `http://127.0.0.1/api/search?${query}`
    const response = await handler(new Request(url, { headers: { 'x-owner': owner } }))
    return { status: response.status, body: (await response.json()) as unknown }
  }
  await holdfast.threads.create({ id: 'thread-1', ownerId: 'ann', title: 'Green tea' })
  expect(await search('q=tea')).toEqual({
    status: 200,
    body: {
      results: [
        {
          threadId: 'thread-1',
          messageId: null,
          title: 'Green tea',
          snippet: 'Green tea',
          ranges: [[6, 9]],
          role: null,
          at: expect.any(String) as string,
        },
      ],
      nextCursor: null,
      hasMore: false,
      isComplete: true,
    },
  })
  expect((await search('q=tea', 'bob')).body).toMatchObject({ results: [] })
  for (const query of ['', 'q=', 'q=%3F%21', `q=${'a'.repeat(501)}`, 'q=tea&limit=0', 'q=a&q=b']) {
    expect((await search(query)).status).toBe(400)
  }
  expect((await search('q=tea&cursor=1-zz')).body).toMatchObject({ error: { code: 'bad-cursor' } })
  expect(await search('q=tea', 'ann', handlers[1])).toMatchObject({
    status: 501,
    body: { error: { code: 'no-search' } },
  })
})

/** More than a search waits for: what is read last, the end of the thread that was quiet longest, has a word of its own. */
async function postHistory(holdfast: Holdfast, ownerId: string): Promise<void> {
  for (let number = 0; number < 65; number++) {
    const words = Array.from({ length: 5_000 }, (_, word) => `w${number}n${word}`)
    const text = `${number === 62 ? 'rhubarb ' : ''}${words.join(' ')}`
    const message = { id: `m${number}`, role: 'user', parts: [{ type: 'text', text }] } as const
    const create = { ownerId, title: '' }
    await holdfast.post(`${ownerId}-${number % 3}`, message, { create })
  }
}

// A store in memory has no index to fill.
it.each(['sqlite', 'postgres'])(
  '[FK1 OP7] a first search of a long history answers with what is indexed and says so; the rest is filled meanwhile: %s',
  async (kind) => {
    const holdfast = openHoldfast(await stores[kind]!(), createRandom(6))
    await postHistory(holdfast, 'ann')
    const find = (q: string, ownerId = 'ann') => holdfast.search({ ownerId, q })
    const first = await find('rhubarb')
    expect([first.isComplete, first.results]).toEqual([false, []])
    // One who has little is not kept waiting by one who has much.
    await holdfast.threads.create({ id: 'of-bob', ownerId: 'bob', title: 'rhubarb' })
    expect(await find('rhubarb', 'bob')).toMatchObject({ isComplete: true, results: [{}] })
    await expect.poll(async () => (await find('rhubarb')).isComplete).toBe(true)
    expect((await find('rhubarb')).results).toMatchObject([{ messageId: 'm62' }])
    // From then on a search finds what was said before it.
    const parts = [{ type: 'text', text: 'quince' }] as const
    await holdfast.post('ann-1', { id: 'last', role: 'user', parts })
    expect(await find('quince')).toMatchObject({
      isComplete: true,
      results: [{ messageId: 'last' }],
    })
  },
)

it.each(['sqlite', 'postgres'])(
  '[FK1 OP7] words that are in thousands of texts, and in few together, are found in all of them: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const holdfast = openHoldfast(store, createRandom(6))
    const textOfMessage = (nth: number) =>
      [0, 1_700, 4_000].includes(nth) ? 'to the north, not the south' : ['north', 'south'][nth % 2]
    const messages = Array.from({ length: 4_200 }, (_, nth) => ({
      ...{ id: `m${nth}`, role: 'user', content: textOfMessage(nth) },
    }))
    async function* source() {
      yield JSON.stringify({ id: 'compass', messages })
    }
    await importThreads(store, readImport(source()), { ownerId: 'ann' })
    const find = (q: string, cursor?: string) =>
      holdfast.search({ ownerId: 'ann', q, limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    await expect.poll(async () => (await find('north')).isComplete).toBe(true)
    const first = await find('south north')
    expect(first).toMatchObject({
      results: [{ messageId: 'm4000' }, { messageId: 'm1700' }],
      hasMore: true,
    })
    expect(await find('south north', first.nextCursor!)).toMatchObject({
      results: [{ messageId: 'm0' }],
      hasMore: false,
    })
    expect((await find('south nor')).results).toHaveLength(2)
    expect((await find('north nowhere')).results).toEqual([])
  },
)

it.each(['sqlite', 'postgres'])(
  '[FK1 OP7 VR1] what one event shows again is stored in portions: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const portions: number[] = []
    const search: Store['search'] = store.search && {
      ...store.search,
      addTexts: async (indexed) => {
        portions.push(indexed.texts.reduce((sum, { words }) => sum + words.length, 0))
        await store.search?.addTexts(indexed)
      },
    }
    const holdfast = openHoldfast({ ...store, ...(search && { search }) }, createRandom(6))
    const create = { ownerId: parseOwnerId('ann'), title: '' }
    const send = async (id: string, replaces?: string) => {
      const words = Array.from({ length: 1_000 }, (_, word) => `${id}n${word}`)
      const message = {
        id: parseMessageId(id),
        parts: [{ type: 'text', text: words.join(' ') }] as const,
      }
      const edit = replaces === undefined ? {} : { replaces: parseMessageId(replaces) }
      await holdfast.send({ threadId: thread, message, create, ...edit })
      await holdfast.settled()
    }
    for (let nth = 0; nth < 25; nth++) await send(`m${nth}`)
    await send('other', 'm0')
    const find = async (q: string) =>
      (await holdfast.search({ ownerId: 'ann', q })).results.map(({ messageId }) => messageId)
    expect([await find('m24n7 '), await find('othern7 ')]).toEqual([[], ['other']])
    portions.length = 0
    expect(await holdfast.show(thread, 'm0')).toMatchObject({ kind: 'shown' })
    expect([await find('m24n7 '), await find('m0n7 '), await find('othern7 ')]).toEqual([
      ['m24'],
      ['m0'],
      [],
    ])
    expect(portions.reduce((sum, words) => sum + words)).toBeGreaterThan(25_000)
    expect(Math.max(...portions)).toBeLessThan(11_000)
  },
)

it.each(['sqlite', 'postgres'])(
  '[FK1] a thread that is renamed while the index is filled is found by its new title: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const writer = openHoldfast(store, createRandom(6))
    await writer.threads.create({ id: 'thread-1', ownerId: 'ann', title: 'plum' })
    let isRenamed = false
    const search: Store['search'] = store.search && {
      ...store.search,
      findUnread: async (ownerId, limit) => {
        const found = (await store.search?.findUnread(ownerId, limit)) ?? []
        if (!isRenamed) await writer.threads.update('thread-1', { title: 'quince' })
        isRenamed = true
        return found
      },
    }
    const holdfast = openHoldfast({ ...store, ...(search && { search }) }, createRandom(6))
    const find = async (q: string) => (await holdfast.search({ ownerId: 'ann', q })).results.length
    await find('plum')
    expect([await find('plum'), await find('quince')]).toEqual([0, 1])
  },
)

it('[FK1 OP7] the titles that a search finds are worked on in several turns of the event loop', async () => {
  const store = memory()
  for (let nth = 0; nth < 100; nth++) {
    const id = parseThreadId(`thread-${nth}`)
    await store.createThread({ id, ownerId: parseOwnerId('ann'), title: 'pear', at: nth })
  }
  const holdfast = openHoldfast(store, createRandom(6))
  const { turns, result } = await turnsDuring(
    () => holdfast.search({ ownerId: 'ann', q: 'pear', limit: 200 }),
    { msPerLook: 1 },
  )
  expect(result.results).toHaveLength(100)
  expect(turns).toBeGreaterThan(10)
})

it.each(Object.keys(stores))(
  '[FK1 OP7] a longer title than any is searched as far as it is shown: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const holdfast = openHoldfast(store, createRandom(6))
    const [id, ownerId] = [parseThreadId('thread-1'), parseOwnerId('ann')]
    await store.createThread({ id, ownerId, title: `plum ${'x '.repeat(300)}quince`, at: 1 })
    const find = async (q: string) => (await holdfast.search({ ownerId, q })).results
    expect(await find('plum')).toMatchObject([{ title: `plum ${'x '.repeat(300)}`.slice(0, 500) }])
    expect(await find('quince')).toEqual([])
  },
)

it('[FK1 OP7] a change of a thread that a thousand others are above in the list is found', async () => {
  const store = openStore(temporaryFile())
  const holdfast = openHoldfast(store, createRandom(6))
  for (let nth = 0; nth < 1_100; nth++) {
    await store.createThread({
      ...{
        id: parseThreadId(`thread-${nth}`),
        ownerId: parseOwnerId('ann'),
        title: 'pear',
        at: nth,
      },
    })
  }
  const find = (q: string) => holdfast.search({ ownerId: 'ann', q })
  await expect.poll(async () => (await find('pear')).isComplete).toBe(true)
  await holdfast.threads.update('thread-0', { title: 'quince' })
  expect(await store.search?.findUnread(parseOwnerId('ann'), 5)).toMatchObject([
    { threadId: 'thread-0' },
  ])
  expect((await find('quince')).results).toMatchObject([{ threadId: 'thread-0' }])
})

it.each(['sqlite', 'postgres'])(
  '[FK1 OP7] a pass over the threads of a person goes on where it was for the next few, and misses none that moves up: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const ownerId = parseOwnerId('ann')
    for (let nth = 0; nth < 230; nth++) {
      await store.createThread({
        id: parseThreadId(`thread-${nth}`),
        ownerId,
        title: 'pear',
        at: nth,
      })
    }
    const writer = openHoldfast(store, createRandom(6))
    const places: (number | undefined)[] = []
    const search: Store['search'] = store.search && {
      ...store.search,
      findUnread: async (owner, limit, before) => {
        const found = (await store.search?.findUnread(owner, limit, before)) ?? []
        expect(found.filter(({ activity }) => activity >= (before ?? Infinity))).toEqual([])
        if (places.length === 1) {
          const parts = [{ type: 'text', text: 'quince' }] as const
          await writer.post('thread-0', { id: 'u', role: 'user', parts })
        }
        places.push(before)
        return found
      },
    }
    const holdfast = openHoldfast({ ...store, ...(search && { search }) }, createRandom(6))
    const { results, isComplete } = await holdfast.search({ ownerId, q: 'quince' })
    expect([results.length, isComplete]).toEqual([1, true])
    // Once with all, once with the one that moved, once with none.
    expect(places.map((place) => place === undefined)).toEqual([
      ...[true, false, false, false, false],
      ...[true, true],
    ])
  },
)

it.each(['sqlite', 'postgres', 'memory'])(
  '[FK1] of a message and a title of the same time, the message is found first: %s',
  async (kind) => {
    const store = await stores[kind]!()
    const ownerId = parseOwnerId('ann')
    const threadId = parseThreadId('thread')
    await store.createThread({ id: threadId, ownerId, title: 'pear pie', at: 5 })
    const said = { messageId: parseMessageId('m'), role: 'user', at: 5 } as const
    const parts = [{ type: 'text', text: 'A pear pie.' }] as const
    const events = [{ type: 'message-added', ...said, parts }] as const
    await commitAppend(store, { threadId, events, expectedSeq: 0 })
    const { results } = await openHoldfast(store, createRandom(6)).search({ ownerId, q: 'pear' })
    expect(results.map(({ messageId }) => messageId)).toEqual(['m', null])
  },
)

it('[FK1 OP7] the index of a person is filled in the background from the first list of their threads on', async () => {
  const store = openStore(temporaryFile())
  const holdfast = openHoldfast(store, createRandom(6))
  await postHistory(holdfast, 'ann')
  const handler = createHandler(holdfast, { authenticate: () => ({ id: 'ann' }) })
  const unread = () => store.search?.findUnread(parseOwnerId('ann'), 5)
  expect(await unread()).toHaveLength(3)
  expect((await handler(new Request('http://127.0.0.1/api/threads'))).status).toBe(200)
  await expect.poll(unread).toEqual([])
  expect(await holdfast.search({ ownerId: 'ann', q: 'rhubarb' })).toMatchObject({
    isComplete: true,
    results: [{ messageId: 'm62' }],
  })
})

it('[FK1 OP7] an import fills the index in the background', async () => {
  const store = openStore(temporaryFile())
  const handler = createHandler(openHoldfast(store, createRandom(6)), {
    authenticate: () => ({ id: 'ann' }),
  })
  const list = () => handler(new Request('http://127.0.0.1/api/threads'))
  expect((await list()).status).toBe(200)
  const message = { id: 'm', role: 'user', parts: [{ type: 'text', text: 'rhubarb' }] }
  const imported = await handler(
    new Request('http://127.0.0.1/api/import?thread=imported', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([message]),
    }),
  )
  expect(imported.status).toBe(200)
  const unread = () => store.search?.findUnread(parseOwnerId('ann'), 5)
  await expect.poll(unread).toEqual([])
  expect((await store.readThread(parseThreadId('imported')))?.ownerId).toBe('ann')
})

it('[FK1] a process that closes does not finish the index first', async () => {
  const store = openStore(temporaryFile())
  const holdfast = openHoldfast(store, createRandom(6))
  await postHistory(holdfast, 'ann')
  holdfast.prepareSearch('ann')
  await holdfast.close()
  expect(await store.search?.findUnread(parseOwnerId('ann'), 5)).not.toEqual([])
})

it('[FK1 OP5c] nothing of a thread that is deleted stays in the index', async () => {
  const database = await openTestDatabase()
  for (const store of [openStore(temporaryFile()), database.open()]) {
    const holdfast = openHoldfast(store, createRandom(5))
    for (const ownerId of ['ann', 'bob']) {
      await holdfast.threads.create({ id: `thread-${ownerId}`, ownerId, title: 'secret word' })
      expect((await holdfast.search({ ownerId, q: 'secret' })).results).toHaveLength(1)
    }
    await holdfast.deleteOwner('ann')
    expect((await holdfast.search({ ownerId: 'ann', q: 'secret' })).results).toEqual([])
    expect((await holdfast.search({ ownerId: 'bob', q: 'secret' })).results).toHaveLength(1)
  }
  const client = await database.connect()
  const { rows } = await client.query('SELECT owner_id FROM holdfast.search_texts')
  expect(rows).toEqual([{ owner_id: 'bob' }])
})

it('[FK1] several processes that search at once read each text once', async () => {
  const database = await openTestDatabase()
  const first = openHoldfast(postgres(database.url), createRandom(9))
  const second = openHoldfast(postgres(database.url), createRandom(9))
  onTestFinished(async () => {
    await first.store.close()
    await second.store.close()
  })
  for (let number = 0; number < 20; number++) {
    await first.post(
      'thread-1',
      { id: `m${number}`, role: 'user', parts: [{ type: 'text', text: `plum ${number}` }] },
      { create: { ownerId: 'ann', title: 'plum' } },
    )
  }
  const pages = await Promise.all(
    [first, second, first, second].map((each) =>
      each.search({ ownerId: 'ann', q: 'plum', limit: 50 }),
    ),
  )
  for (const { results } of pages) expect(results.map(nameOf).toSorted()).toHaveLength(21)
})
