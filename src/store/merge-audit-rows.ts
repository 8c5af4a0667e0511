import type { Seq } from '../core/ids.ts'
import type { AuditCall, AuditEvent, AuditMessage, AuditRow, AuditThread } from './audit.ts'
import { RowCursor } from './row-cursor.ts'

/** A row and the thread it says it is of, by whatever the database names threads with. */
export type Keyed<Row, Key> = Row & { readonly key: Key }

export type CallOfTurn = AuditCall & { readonly turnSeq: Seq | null }

/** Four tables, each in the order of the database's own keys, then of seq (calls: of their turn). */
export interface AuditTables<Key> {
  readonly threads: Fetch<Keyed<AuditThread, Key>>
  readonly messages: Fetch<Keyed<Omit<AuditMessage, 'calls'>, Key>>
  readonly events: Fetch<Keyed<AuditEvent, Key>>
  readonly calls: Fetch<Keyed<CallOfTurn, Key>>
  readonly compare: (left: Key, right: Key) => number
}
export type Fetch<Row> = () => Promise<readonly Row[]>

/** How many batches to hold: each may have a thousand facts. */
export const batchPortion = 20

/** The facts of one batch after the other. */
export function splitRows<Batch, Fact>(
  fetch: Fetch<Batch>,
  read: (batch: Batch) => readonly Fact[],
): Fetch<Fact> {
  let batches: readonly Batch[] = []
  let at = 0
  return async () => {
    for (;;) {
      const batch = batches[at++]
      const facts = batch === undefined ? [] : read(batch)
      if (facts.length > 0) return facts
      if (batch !== undefined) continue
      batches = await fetch()
      at = 0
      if (batches.length === 0) return []
    }
  }
}

const portion = 500

/** One pass over all tables at once, holding no more than a turn's calls. */
export async function* mergeAuditRows<Key>(
  tables: AuditTables<Key>,
): AsyncGenerator<readonly AuditRow[]> {
  const { compare } = tables
  const threads = new RowCursor(tables.threads)
  const messages = new RowCursor(tables.messages)
  const events = new RowCursor(tables.events)
  const calls = new RowCursor(tables.calls)
  const ready = async (): Promise<void> => {
    for (const cursor of [threads, messages, events, calls]) {
      const wait = cursor.ready()
      if (wait !== undefined) await wait
    }
  }
  const isOf = (row: { readonly key: Key } | undefined, key: Key) =>
    row !== undefined && compare(row.key, key) === 0
  let rows: AuditRow[] = []

  /** Calls up to a place. Those of the turn there are its own; of the others the turn is not there. */
  const takeCalls = async (
    key: Key,
    upTo: Seq | null,
    isTurn: boolean,
  ): Promise<readonly AuditCall[]> => {
    const taken: AuditCall[] = []
    for (;;) {
      const wait = calls.ready()
      if (wait !== undefined) await wait
      const call = calls.head
      if (call === undefined || !isOf(call, key)) return taken
      const { turnSeq } = call
      if (upTo !== null && (turnSeq === null || turnSeq > upTo)) return taken
      if (isTurn && turnSeq === upTo) taken.push(call)
      else rows.push({ kind: 'orphan-call', callId: call.callId })
      calls.skip()
    }
  }

  for (;;) {
    await ready()
    const heads = [threads.head, messages.head, events.head, calls.head].filter(
      (row) => row !== undefined,
    )
    const [first] = heads
    if (first === undefined) break
    const key = heads.reduce(
      (least, row) => (compare(row.key, least) < 0 ? row.key : least),
      first.key,
    )
    const thread = threads.head
    if (thread === undefined || !isOf(thread, key)) {
      let orphans = 0
      for (const cursor of [messages, events, calls]) {
        for (await cursor.ready(); isOf(cursor.head, key); await cursor.ready()) {
          orphans++
          cursor.skip()
        }
      }
      rows.push({ kind: 'orphan-rows', key: String(key), rows: orphans })
      continue
    }
    rows.push(thread)
    threads.skip()
    for (;;) {
      const wait = messages.ready() ?? events.ready()
      if (wait !== undefined) {
        await wait
        continue
      }
      const message = isOf(messages.head, key) ? messages.head : undefined
      const event = isOf(events.head, key) ? events.head : undefined
      if (message !== undefined && (event === undefined || message.seq <= event.seq)) {
        const isTurn = message.role === 'assistant'
        rows.push({ ...message, calls: await takeCalls(key, message.seq, isTurn) })
        messages.skip()
      } else if (event !== undefined) {
        rows.push(event)
        events.skip()
      } else break
      if (rows.length >= portion) {
        yield rows
        rows = []
      }
    }
    await takeCalls(key, null, false)
  }
  if (rows.length > 0) yield rows
}
