import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { randomLedger, scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { appendEvents } from '../../src/testing/store-rules/append-events.ts'
import {
  ended,
  messageAdded,
  started,
  turnWithCalls,
} from '../../src/testing/store-rules/thread-script.ts'

interface Row {
  readonly id: string
  readonly entity?: string
  readonly role?: string
  readonly toolCalls?: readonly { readonly id: string }[]
  readonly content?: string | { readonly toolCallId: string }
}
interface OlderPage {
  readonly next_cursor: string | null
  readonly has_more: boolean
  readonly page_size: number
  readonly results: readonly Row[]
}
interface NewPage {
  readonly nextCursor: string | null
  readonly hasMore: boolean
  readonly results: readonly Row[]
}

const threadId = parseThreadId('a-thread')

/** A thread whose events are these, behind a handler. */
async function open(events: readonly NewEvent[] = []) {
  const store = memory()
  const holdfast = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
  const handler = createHandler(holdfast, { localOnly: true })
  await store.createThread({ id: threadId, ownerId: parseOwnerId('local'), title: '', at: 1 })
  const append = async (more: readonly NewEvent[]) => {
    for (const event of more) {
      expect((await appendEvents(store, { threadId, events: [event] })).kind).toBe('appended')
    }
  }
  await append(events)
  const requestPage = (query: string) =>
    handler(new Request(`http://localhost/api/threads/${threadId}/messages?${query}`))
  const get = async <Page>(query: string): Promise<Page> => {
    const response = await requestPage(query)
    expect([query, response.status]).toEqual([query, 200])
    return (await response.json()) as Page
  }
  return { append, requestPage, get }
}
type OpenedThread = Awaited<ReturnType<typeof open>>

/** All pages, one after the other; none may be empty while there is more. */
async function walk(
  { get }: OpenedThread,
  query: string,
  between: () => Promise<void> = async () => {},
): Promise<readonly (readonly Row[])[]> {
  const pages: (readonly Row[])[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: OlderPage & NewPage = await get(
      cursor === '' ? query : `${query}&cursor=${encodeURIComponent(cursor)}`,
    )
    const next = page.next_cursor ?? page.nextCursor ?? null
    expect(page.has_more ?? page.hasMore).toBe(next !== null)
    if (next !== null || cursor !== '') expect(page.results).not.toEqual([])
    pages.push(page.results)
    cursor = next
    await between()
  }
  return pages
}

const seeds = Array.from({ length: 12 }, (_, index) => 7_000 + index)
const filters = ['', 'USER', 'TOOL', 'AI_TOOL', 'AI_MESSAGE', 'AI_TOOL,TOOL', 'USER,AI_MESSAGE']
const kinds = ['USER', 'SYSTEM', 'AI_TOOL', 'TOOL', 'AI_MESSAGE']
const ledgerOf = (seed: number) =>
  randomLedger(seed, { turns: 5, shape: seed % 2 === 0 ? 'any' : 'crashed' })
const filterOf = (filter: string) => (filter === '' ? '' : `&entity=${filter}`)

describe('the older query', () => {
  it('[FD8 PG2] gives the whole list once, at every page size, in every order, format and filter', async () => {
    for (const seed of seeds) {
      const thread = await open(ledgerOf(seed))
      const whole = await thread.get<NewPage>('format=entities&limit=200')
      for (const filter of filters) {
        const wanted = filter === '' ? kinds : filter.split(',')
        const expected = whole.results.filter(({ entity = '' }) => wanted.includes(entity))
        for (const size of [1, 2, 3, 7, 200]) {
          const query = `page_size=${size}${filterOf(filter)}`
          const down = await walk(thread, query)
          const up = await walk(thread, `${query}&sort=creation_date`)
          expect([seed, query, down.flat()]).toEqual([seed, query, expected])
          expect([seed, query, up.flat()]).toEqual([seed, query, expected.toReversed()])
          for (const page of [...down.slice(0, -1), ...up.slice(0, -1)]) {
            expect(page.length).toBeGreaterThanOrEqual(size)
          }
        }
      }
    }
  })

  it('[FD8 PG2] gives every message once, of those that have a row of the kinds asked for', async () => {
    for (const seed of seeds) {
      const thread = await open(ledgerOf(seed))
      const whole = await thread.get<NewPage>('format=vercel&limit=200')
      const rows = await thread.get<{ results: readonly (Row & { messageId: string })[] }>(
        'format=entities&limit=200',
      )
      for (const filter of filters) {
        const wanted = filter === '' ? kinds : filter.split(',')
        const made = new Set(
          rows.results.flatMap(({ entity = '', messageId }) =>
            wanted.includes(entity) ? [messageId] : [],
          ),
        )
        const hasRows = new Set(rows.results.map(({ messageId }) => messageId))
        const expected = whole.results.filter(
          ({ id }) =>
            filter === '' || made.has(id) || (!hasRows.has(id) && wanted.includes('AI_MESSAGE')),
        )
        for (const size of [1, 2, 5, 200]) {
          const query = `vercel_format=true&page_size=${size}${filterOf(filter)}`
          const down = await walk(thread, query)
          const up = await walk(thread, `${query}&sort=creation_date`)
          expect([seed, query, down.flat()]).toEqual([seed, query, expected])
          expect([seed, query, up.flat()]).toEqual([seed, query, expected.toReversed()])
          for (const page of down.slice(0, -1)) expect(page.length).toBe(size)
        }
      }
    }
  })

  it('[FD8 PG4] loses and doubles nothing while the thread grows', async () => {
    for (const seed of seeds) {
      const events = ledgerOf(seed)
      for (const query of ['page_size=1', 'page_size=2&entity=USER', 'page_size=1&entity=TOOL']) {
        const half = Math.floor(events.length / 2)
        const thread = await open(events.slice(0, half))
        const before = (await thread.get<OlderPage>(query.replace(/\d/, '200'))).results
        const rest = [...events.slice(half)]
        const pages = await walk(thread, query, () => thread.append(rest.splice(0, 3)))
        await thread.append(rest)
        const after = new Set((await walk(thread, query)).flat().map(({ id }) => id))
        const read = pages.flat().map(({ id }) => id)
        expect(new Set(read).size).toBe(read.length)
        // What was there and still is has been read, whatever was added meanwhile.
        for (const { id } of before) if (after.has(id)) expect(read).toContain(id)
      }
    }
  })

  it('[FD8 PG1] keeps a call and its results together, and else gives what was asked for', async () => {
    const events = [messageAdded('Look'), ...turnWithCalls(30, parseMessageId('many'))]
    const thread = await open(events)
    const sizes = async (query: string) => (await walk(thread, query)).map(({ length }) => length)
    expect(await sizes('page_size=5')).toEqual([31, 1])
    expect(await sizes('page_size=5&sort=creation_date')).toEqual([32])
    expect(await sizes('page_size=1&sort=creation_date')).toEqual([1, 31])
    expect(await sizes('page_size=10&entity=TOOL')).toEqual([10, 10, 10])
    expect(await sizes('page_size=10&entity=TOOL,USER')).toEqual([10, 10, 10, 1])
    expect(await sizes('page_size=10&entity=AI_TOOL')).toEqual([1])
  })

  it('[FD8 PG5] passes over any number of messages that are not shown', async () => {
    const turns = Array.from({ length: 260 }, (_, index) => parseMessageId(`turn-${index}`))
    const thread = await open()
    await thread.append([
      messageAdded('Hi', parseMessageId('first')),
      ...turns.flatMap((id) => [started(id), ended(id)]),
      messageAdded('Hi', parseMessageId('last')),
    ])
    for (const query of [
      'page_size=1',
      'page_size=1&vercel_format=true',
      'page_size=1&entity=USER',
      'limit=1&format=vercel',
      'limit=1&format=entities',
      'limit=1&format=chat',
    ]) {
      const pages = await walk(thread, query)
      const ids = pages.map((page) => page.map(({ id }) => id))
      expect([query, ...ids]).toEqual([query, ['last'], ['first']])
    }
    expect((await thread.get<OlderPage>('entity=TOOL')).results).toEqual([])
  })

  it('[FD8] is the format of rows unless another is asked for, and the newest come first', async () => {
    const thread = await open(ledgerOf(7_000))
    const rows = await thread.get<NewPage>('format=entities&limit=200')
    for (const query of [
      'page_size=200',
      'page_size=200&vercel_format=false&sort=-creation_date',
    ]) {
      const { results } = await thread.get<OlderPage>(query)
      expect(results).toEqual(rows.results)
    }
    const page = await thread.get<OlderPage>('sort=-creation_date')
    expect(Object.keys(page)).toEqual(['next_cursor', 'has_more', 'page_size', 'results'])
    expect(page.page_size).toBe(25)
  })

  it('[FD8 HT3] refuses what it does not know, and says what it takes', async () => {
    const thread = await open(ledgerOf(7_000))
    const bad: Readonly<Record<string, RegExp>> = {
      'entity=NOPE': /USER, SYSTEM, AI_TOOL, TOOL, AI_MESSAGE/,
      'entity=user': /USER, SYSTEM/,
      'entity=': /USER, SYSTEM/,
      'entity=USER,': /USER, SYSTEM/,
      'sort=name': /creation_date/,
      'sort=': /creation_date/,
      'vercel_format=maybe': /true, false/,
      'page_size=0': /1 to 200/,
      'page_size=201': /1 to 200/,
      'page_size=': /1 to 200/,
      'page_size=1&page_size=2': /more than once/,
      'page_size=1&limit=2': /"limit"/,
      'page_size=1&format=ui': /"format"/,
      'page_size=1&cursor=zzz': /malformed/,
    }
    for (const [query, words] of Object.entries(bad)) {
      const response = await thread.requestPage(query)
      const { error } = (await response.json()) as { error: { message: string } }
      const refusal = [query, 400, expect.stringMatching(words)]
      expect([query, response.status, error.message]).toEqual(refusal)
    }
  })

  it('[PG4 FD8] has cursors for one list only: its format, order and filter', async () => {
    const thread = await open(ledgerOf(7_000))
    const { next_cursor } = await thread.get<OlderPage>('page_size=1&entity=USER,TOOL')
    const cursor = `cursor=${encodeURIComponent(next_cursor ?? '')}`
    const status = async (query: string) => (await thread.requestPage(`${query}&${cursor}`)).status
    expect(await status('page_size=3&entity=TOOL,USER')).toBe(200)
    expect(await status('page_size=1&entity=USER')).toBe(400)
    expect(await status('page_size=1')).toBe(400)
    expect(await status('page_size=1&entity=USER,TOOL&sort=creation_date')).toBe(400)
    expect(await status('page_size=1&entity=USER,TOOL&vercel_format=true')).toBe(400)
    expect(await status('limit=1&format=entities')).toBe(400)
  })
})

it('[PG2 PG5] no page of any format is empty while there is more', async () => {
  for (const seed of seeds) {
    const thread = await open(ledgerOf(seed))
    for (const format of ['ui', 'vercel', 'entities', 'chat']) {
      const whole = await thread.get<NewPage>(`format=${format}&limit=200`)
      for (const limit of [1, 2, 3]) {
        const pages = await walk(thread, `format=${format}&limit=${limit}`)
        expect(pages.flat()).toEqual(whole.results)
      }
    }
  }
})
