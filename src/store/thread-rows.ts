import type { CallId, MessageId, OwnerId, Seq, ThreadId } from '../core/ids.ts'
import { toQueueText } from '../core/queue.ts'
import type { ThreadRecord } from '../core/thread.ts'
import {
  isHeld,
  judgeAppend,
  type LeaseClock,
  newThreadHead,
  type ThreadHead,
  toAppended,
  useLease,
} from './lease.ts'
import {
  type BatchRow,
  type LedgerRows,
  type LedgerSource,
  type MessageRow,
  noLedgerRows,
  type StoredCallRow,
  type ThreadRow,
} from './ledger-rows.ts'
import { drawMark, markOf } from './place-evidence.ts'
import type { IllegalAppend, PlannedCommit } from './plan-commit.ts'
import type { AppendResult, NewThread } from './store.ts'
import { firstTitleGiver, nextTitleGiver } from './thread-row.ts'
import { createPathRows, walkPath } from './version-path.ts'

/**
 * Everything that is stored of one thread, as plain JSON: for stores that keep a thread as one document and
 * not as rows of four tables. A commit then costs as much as the thread is large, so a database with rows is
 * better for long threads.
 */
export interface ThreadRows {
  readonly thread: ThreadRecord
  readonly head: ThreadHead
  /** The mark of the newest commit. */
  readonly mark: string
  /** In order of seq, including hidden ones. */
  readonly messages: readonly (MessageRow & {
    readonly retiredSeq: Seq | null
    /** See `PathRow`. */
    readonly parentSeq: Seq | null
  })[]
  readonly batches: readonly BatchRow[]
  readonly calls: readonly (StoredCallRow & { readonly seq: Seq })[]
}

/** `activity`: its position in the list, larger than any before. */
export function createThreadRows(wanted: NewThread, activity: number): ThreadRows {
  const { id, ownerId, title, metadata = {}, at } = wanted
  const incarnation = drawMark()
  return {
    thread: {
      id,
      ownerId,
      title,
      titledBy: firstTitleGiver(wanted),
      pinned: false,
      archived: false,
      metadata,
      createdAt: at,
      updatedAt: at,
      seq: 0,
      activity,
      queue: [],
      incarnation,
    },
    head: newThreadHead(ownerId, incarnation),
    mark: '',
    messages: [],
    batches: [],
    calls: [],
  }
}

/** The clock and the counter of a store that keeps documents. */
export interface CommitClock extends LeaseClock {
  /** A number of the whole store, larger at each call and never returned twice. */
  readonly nextNumber: () => number
}

/**
 * Applies a planned commit to the rows of its thread; `before` is undefined if the thread does not exist.
 * `rows` is to be stored only if the result is `appended`; `before` is not changed.
 */
export function applyCommit(
  before: ThreadRows | undefined,
  commit: PlannedCommit,
  clock: CommitClock,
): { readonly result: AppendResult; readonly rows: ThreadRows | undefined } {
  const { append, size, title, activityAt, queue, flags, forkedFrom } = commit
  const { threadId: id, create, lease } = append
  const isMade = before === undefined && create !== undefined
  const rows = isMade ? createThreadRows({ id, ...create }, clock.nextNumber()) : before
  const refusal =
    judgeAppend(rows?.head ?? null, (head) => isHeld(head, clock), append) ??
    (rows === undefined ? null : findConflict(keysOf(rows), commit))
  if (refusal !== null || rows === undefined) {
    return { result: refusal ?? { kind: 'no-thread' }, rows: before }
  }
  const used = useLease(rows.head, lease, clock.now(), clock.nextNumber)
  const head = { ...used, seq: used.seq + size }
  const moved = activityAt === null ? {} : { updatedAt: activityAt, activity: clock.nextNumber() }
  const { thread } = rows
  return {
    result: toAppended(head, size, lease),
    rows: {
      ...(size > 0 ? addRows(rows, commit, head.seq) : rows),
      head,
      thread: {
        ...thread,
        ...moved,
        seq: head.seq,
        title: title ?? thread.title,
        titledBy: nextTitleGiver(thread, commit),
        // Documents of older versions have no flags.
        pinned: flags.pinned ?? thread.pinned ?? false,
        archived: flags.archived ?? thread.archived ?? false,
        // Documents of older versions have no queue.
        queue: queue ?? thread.queue ?? [],
        ...(forkedFrom === null ? {} : { forkedFrom }),
      },
    },
  }
}

/** What is stored of a thread that has unique keys. */
export interface StoredKeys {
  readonly messages: readonly {
    readonly id: MessageId
    readonly seq: Seq
    readonly retiredSeq: Seq | null
  }[]
  /** Undefined: there is no such call. */
  readonly turnOfCall: (callId: CallId) => MessageId | undefined
}

/** The unique keys of a database, for stores without one: ids of messages that are shown, and ids of calls. */
export function findConflict(
  { messages, turnOfCall }: StoredKeys,
  commit: PlannedCommit,
): IllegalAppend | null {
  const shown = new Set<MessageId>()
  for (const { id, retiredSeq } of messages) if (retiredSeq === null) shown.add(id)
  for (const { id, retiredSeq } of commit.changedMessages) if (retiredSeq !== null) shown.delete(id)
  const toShow = new Set(commit.shownMessages)
  for (const { id, seq } of toShow.size === 0 ? [] : messages) {
    if (!toShow.has(seq) || !shown.has(id)) continue
    return { kind: 'illegal', subject: 'message', id, state: 'exists' }
  }
  for (const { id, retiredSeq } of commit.newMessages) {
    if (shown.has(id)) return { kind: 'illegal', subject: 'message', id, state: 'exists' }
    if (retiredSeq === null) shown.add(id)
  }
  for (const { callId: id, turnId } of commit.calls) {
    if ((turnOfCall(id) ?? turnId) === turnId) continue
    return { kind: 'illegal', subject: 'call', id, state: 'exists' }
  }
  return null
}

const keysOf = ({ messages, calls }: ThreadRows): StoredKeys => ({
  messages,
  turnOfCall: (id) => calls.find(({ callId }) => callId === id)?.turnId,
})

function addRows(rows: ThreadRows, commit: PlannedCommit, commitSeq: Seq): ThreadRows {
  const mark = markOf(commit)
  let { messages, batches } = rows
  // Before the new rows are inserted, which may have the same ids.
  for (const row of commit.changedMessages) {
    const { id, seq, status, snapshot, retiredSeq, parentSeq, versions } = row
    messages = messages.map((old) => {
      if (seq === null ? old.id !== id || old.retiredSeq !== null : old.seq !== seq) return old
      const changed = {
        ...old,
        status: status ?? old.status,
        retiredSeq: old.retiredSeq ?? retiredSeq,
        parentSeq: retiredSeq === null ? old.parentSeq : parentSeq,
        versions: versions ?? old.versions,
      }
      if (snapshot === null) return changed
      return { ...changed, body: snapshot.body, bodySeq: snapshot.seq, commitSeq, mark }
    })
    // The snapshot of an ended turn contains its events.
    if (snapshot !== null) batches = batches.filter(({ turnId }) => turnId !== id)
  }
  const shown = new Set(commit.shownMessages)
  messages = messages.map((row) => (shown.has(row.seq) ? { ...row, retiredSeq: null } : row))
  const written = new Set(commit.calls.map(({ callId }) => callId))
  return {
    ...rows,
    mark,
    messages: [...messages, ...commit.newMessages.map((row) => ({ ...row, commitSeq, mark }))],
    batches: [
      ...batches,
      ...commit.batches.map(({ turnSeq: _, ...batch }) => ({ ...batch, commitSeq, mark })),
    ],
    calls: [
      ...rows.calls.filter(({ callId }) => !written.has(callId)),
      ...commit.calls.map(({ turnSeq: _, ...row }) => ({
        ...row,
        outputBytes: row.output === null ? null : new TextEncoder().encode(row.output).length,
      })),
    ].sort((left, right) => left.seq - right.seq),
  }
}

/** Access to the documents. */
export interface RowsShelf {
  /** Undefined if the thread does not exist. */
  readonly read: (threadId: ThreadId) => Promise<ThreadRows | undefined>
  /** The thread that contains the turn. */
  readonly findTurn: (turnId: MessageId) => Promise<ThreadRows | undefined>
}

/** The reads of `createLedgerReader`, over whole documents. */
export function createRowsSource({ read, findTurn }: RowsShelf): LedgerSource {
  const pick = async (
    found: Promise<ThreadRows | undefined>,
    mostBytes: number,
    fits: (rows: ThreadRows) => readonly MessageRow[],
  ): Promise<LedgerRows> => {
    const rows = await found
    return rows === undefined ? noLedgerRows : rowsOf(rows, fits(rows), mostBytes)
  }
  return {
    async readPageRows({ threadId, before, edge, order, live, limit, places, mostBytes }) {
      const rows = await read(threadId)
      if (rows === undefined) return noLedgerRows
      const isUp = order === 'oldest-first'
      const isRunning = ({ status }: MessageRow) => status === 'running'
      const all = rows.messages.filter(({ retiredSeq }) => retiredSeq === null)
      const shown = all
        .filter(({ seq }) => before === null || (isUp ? seq > before : seq < before))
        .filter((row) => live === 'include' || !isRunning(row))
      const messages = isUp ? shown.slice(0, places) : shown.slice(-places)
      const inside = isUp ? messages.slice(0, limit) : messages.slice(-limit)
      return {
        ...rowsOf(rows, messages, mostBytes, inside),
        thread: {
          ...toRow(rows),
          live: live === 'exclude' ? (all.findLast(isRunning)?.id ?? null) : null,
          newest: rows.messages.at(-1)?.id ?? null,
          edge: rows.messages.find(({ seq }) => seq === edge)?.id ?? null,
        },
      }
    },
    async readChangeRows({ threadId, after, mostBytes }) {
      const rows = await read(threadId)
      if (rows === undefined) return noLedgerRows
      const messages = rows.messages
        .filter(({ bodySeq }) => bodySeq !== null && bodySeq > after)
        // A turn that ended after it was retired must not be sent again to a reader that dropped it.
        .filter((row) => row.retiredSeq === null || row.retiredSeq > (row.bodySeq ?? 0))
        .toSorted((left, right) => (left.bodySeq ?? 0) - (right.bodySeq ?? 0))
      return {
        ...rowsOf(rows, messages, mostBytes),
        batches: rows.batches.filter(({ seq }) => seq > after),
        calls: leanCalls(rows, mostBytes),
      }
    },
    readMessageRows: (threadId, id, mostBytes) =>
      pick(read(threadId), mostBytes, ({ messages }) =>
        newestOf(messages.filter((row) => row.id === id)),
      ),
    readTurnRows: (id, mostBytes) =>
      pick(findTurn(id), mostBytes, ({ messages }) =>
        messages.filter((row) => row.id === id && row.role === 'assistant').slice(0, 1),
      ),
    readCallRows: (threadId, id, mostBytes) =>
      pick(read(threadId), mostBytes, ({ messages, calls }) => {
        const turnId = calls.find(({ callId }) => callId === id)?.turnId
        return messages.filter((row) =>
          turnId === undefined ? row.status === 'running' : row.id === turnId,
        )
      }),
    async readPath(threadId, target) {
      const rows = await read(threadId)
      const path =
        rows === undefined ? null : walkPath(createPathRows(rows.messages.map(toPathRow)), target)
      if (rows === undefined || path === null) return null
      const { thread, head } = rows
      return { ownerId: thread.ownerId, seq: head.seq, incarnation: head.incarnation, ...path }
    },
    async readPlace(threadId, seq) {
      const rows = await read(threadId)
      if (rows === undefined) return null
      const { head, messages, batches } = rows
      const newest = messages.findLast((row) => row.seq <= seq)
      const batch = batches.find((each) => each.seq >= seq && each.seq - each.size < seq)
      const body = messages.find(({ bodySeq }) => bodySeq === seq)
      // Of an ended turn, the row has the mark of its end, which is another commit's.
      const own = newest?.seq === seq && newest.bodySeq === null ? newest : undefined
      return {
        incarnation: head.incarnation,
        ownerId: head.ownerId,
        threadSeq: head.seq,
        mark: seq === head.seq ? rows.mark : ((batch ?? body ?? own)?.mark ?? null),
        newest: newest === undefined ? null : { id: newest.id, bodySeq: newest.bodySeq },
      }
    },
    async readOutputs(threadId, ids) {
      const calls = (await read(threadId))?.calls ?? []
      const wanted = calls.filter(({ callId }) => ids.includes(callId))
      return new Map(wanted.map((row) => [row.callId, row]))
    },
  }
}

/** A document of an older version has neither field. */
const toPathRow = (row: ThreadRows['messages'][number]) => ({
  ...row,
  parentSeq: row.parentSeq ?? null,
})

/** Of several with one id, the one that is shown, or else the newest. */
const newestOf = (rows: ThreadRows['messages']): ThreadRows['messages'] => {
  const shown = rows.filter(({ retiredSeq }) => retiredSeq === null)
  return shown.length > 0 ? shown : rows.slice(-1)
}

const toRow = ({ thread, head, mark }: ThreadRows): ThreadRow => {
  const ownerId: OwnerId = thread.ownerId
  const { seq, incarnation } = head
  const ofPages = { live: null, newest: null, edge: null }
  const queue = toQueueText(thread.queue ?? [])
  return { threadId: thread.id, ownerId, seq, incarnation, mark, queue, ...ofPages }
}

/** An output over `mostBytes` is left out; its length stays. */
const leanCalls = ({ calls }: ThreadRows, mostBytes: number): readonly StoredCallRow[] =>
  calls.map((row) =>
    (row.outputBytes ?? 0) <= mostBytes ? row : { ...row, output: null, modelOutput: null },
  )

/** Messages, with the batches and calls of the turns among those `inside`. */
function rowsOf(
  rows: ThreadRows,
  messages: readonly MessageRow[],
  mostBytes: number,
  inside = messages,
): LedgerRows {
  const turns = new Set<MessageId | null>(inside.map(({ id }) => id))
  return {
    thread: toRow(rows),
    messages,
    batches: rows.batches.filter(({ turnId }) => turnId !== null && turns.has(turnId)),
    calls: leanCalls(rows, mostBytes).filter(({ turnId }) => turns.has(turnId)),
    unread: null,
  }
}
