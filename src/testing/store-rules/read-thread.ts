import assert from 'node:assert/strict'
import { foldThread, type ThreadView } from '../../core/fold-thread.ts'
import { isTurnEvent, type NewEvent, numberEvents } from '../../core/event.ts'
import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { Changes, Page, PageQuery, Store, StoredChange } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { append, thread } from './thread-script.ts'
import { withoutMarks } from './without-marks.ts'

export async function readPage(store: Store, query: Partial<PageQuery> = {}): Promise<Page> {
  const page = await store.readPage({
    threadId: thread,
    limit: 200,
    before: null,
    live: 'include',
    results: 'full',
    ...query,
  })
  assert.ok(page !== null)
  return withoutMarks(page)
}

/** All pages, joined: newest first, unless the query says otherwise. */
export async function readAllPages(
  store: Store,
  limit: number,
  query: Partial<PageQuery> = {},
  from: Seq | null = null,
): Promise<readonly Message[]> {
  const messages: Message[] = []
  let before = from
  while (true) {
    const page: Page = await readPage(store, { ...query, limit, before })
    assert.ok(page.messages.length <= limit)
    messages.push(...page.messages)
    if (!page.hasMore) return messages
    assert.equal(page.messages.length, limit, 'a page that is not the last is full')
    before = messages.at(-1)?.seq ?? null
  }
}

export async function readChanges(
  store: Store,
  after: Seq,
  limit = 10_000,
  threadId: ThreadId = thread,
): Promise<Changes> {
  const changes = await store.readChanges({ threadId, after, limit, results: 'full' })
  assert.ok(changes !== null)
  return withoutMarks(changes)
}

/** Everything after a seq, a few rows at a time; each read continues where the one before ended. */
export async function followChanges(
  store: Store,
  after: Seq,
  limit: number,
): Promise<readonly StoredChange[]> {
  const all: StoredChange[] = []
  let reached = after
  while (true) {
    const read = await readChanges(store, reached, limit)
    assert.ok(read.changes.length <= limit)
    assert.ok(read.reached > reached || read.reached === read.seq, 'every read gets further')
    all.push(...read.changes)
    ;({ reached } = read)
    if (reached === read.seq) return all
  }
}

export const nothing: ThreadView = { seq: 0, messages: [] }

/** The view of a follower that received every event as it happened. */
export function foldEvents(events: readonly NewEvent[]): ThreadView {
  const plain = JSON.parse(JSON.stringify(events)) as readonly NewEvent[]
  return foldThread(
    nothing,
    numberEvents(plain, 1).map((event) => ({ kind: 'event', seq: event.seq, event })),
  )
}

export const newestFirst = (view: ThreadView): readonly Message[] => view.messages.toReversed()

/** Splits a ledger into appends of a few events, the same for the same seed. */
export function splitAppends(
  seed: number,
  events: readonly NewEvent[],
): readonly (readonly NewEvent[])[] {
  const random = createRandom(seed)
  return cutAtRetirements(events).flatMap((part) => {
    const appends: (readonly NewEvent[])[] = []
    for (let index = 0; index < part.length; index += appends.at(-1)?.length ?? 1) {
      appends.push(part.slice(index, index + 1 + random.int(12)))
    }
    return appends
  })
}

/** A store may look only at the messages before an append to find which can be retired. */
function cutAtRetirements(events: readonly NewEvent[]): readonly (readonly NewEvent[])[] {
  const cuts = events.flatMap((event, index) => (event.type === 'messages-retired' ? [index] : []))
  return [0, ...cuts].map((cut, index) => events.slice(cut, cuts[index]))
}

/** The turns that have ended after these events. */
export function endedTurns(events: readonly NewEvent[]): ReadonlySet<MessageId> {
  const turns = new Set<MessageId>()
  for (const event of events) {
    if (!isTurnEvent(event)) continue
    if (event.type === 'turn-ended') turns.add(event.turnId)
    if (event.type === 'turn-resumed') turns.delete(event.turnId)
  }
  return turns
}

/** Writes a ledger in a few appends. */
export async function writeLedger(
  store: Store,
  seed: number,
  events: readonly NewEvent[],
): Promise<void> {
  for (const part of splitAppends(seed, events)) {
    await append(store, part)
  }
}

/** Writes a ledger in as few appends as possible. */
export async function writeWholeLedger(
  store: Store,
  events: readonly NewEvent[],
  threadId: ThreadId = thread,
): Promise<void> {
  for (const part of cutAtRetirements(events)) await append(store, part, { threadId })
}
