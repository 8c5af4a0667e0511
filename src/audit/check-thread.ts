import { hash } from 'node:crypto'
import { isTurnEvent } from '../core/event.ts'
import type { FileId } from '../core/file.ts'
import type { MessageId, Seq, ThreadId } from '../core/ids.ts'
import { filesInMessage, mayNameFiles } from '../core/named-files.ts'
import {
  firstReady,
  foldQueue,
  isQueueEvent,
  joinedInputs,
  parseQueue,
  toQueueText,
} from '../core/queue.ts'
import type { InputQueue } from '../core/queued-input.ts'
import type { AuditEvent, AuditMessage, AuditThread, RowChange } from '../store/audit.ts'
import { readUserRow } from '../store/user-row.ts'
import { compareCalls, type ExpectedTurn } from './compare-calls.ts'
import { VersionCheck } from './check-versions.ts'
import { OpenTurn } from './open-turn.ts'
import type { Mend, Problem } from './problem.ts'
import {
  isReadableUserBody,
  lostPayload,
  mendTurnBody,
  mendUserBody,
  readExpectedEvent,
  readExpectedTurn,
  readLost,
  readRewritten,
} from './expected-turn.ts'

/** Finds every problem of one thread. It receives the rows in order of seq and keeps none of the ended turns. */
export class ThreadCheck {
  readonly thread: AuditThread
  readonly #now: number
  /** The turns whose id belongs to a turn of another thread, with that thread. */
  readonly #shared: ReadonlyMap<MessageId, ThreadId>
  readonly #problems: Problem[] = []
  readonly #coverage = new SeqCoverage()
  readonly #open = new Map<Seq, OpenTurn>()
  /** Events that no reader receives, by their turn. */
  readonly #unseen = new Map<
    Seq,
    { readonly messageId: MessageId; leftover: Seq[]; hidden: number }
  >()
  #lastMessage: AuditMessage | undefined
  #queue: InputQueue = []
  /** Inputs that joined an ended turn: only the turn's state shows it, because the event is in its body. */
  readonly #joined = new Set<MessageId>()
  /** False: events are lost that may have changed the queue, so the column is trusted and not compared. */
  #isQueueKnown = true
  readonly #versions = new VersionCheck()
  #hasOpenTurn = false
  #runsTurn = false
  /** The files that its messages, calls and queued inputs refer to. */
  readonly #files = new Set<FileId>()

  constructor(
    thread: AuditThread,
    now: number,
    shared: ReadonlyMap<MessageId, ThreadId> = new Map<MessageId, ThreadId>(),
  ) {
    this.thread = thread
    this.#now = now
    this.#shared = shared
    const { threadId, ownerId } = thread
    if (threadId === '') this.#findEmptyId('this thread')
    if (ownerId === '') this.#findEmptyId('the owner of this thread')
  }

  addMessage(row: AuditMessage): void {
    const { seq, bodySeq, messageId, role } = row
    this.#cover(seq, bodySeq ?? seq)
    this.#lastMessage = row
    this.#versions.addMessage(row)
    this.#checkIds(row)
    for (const { files = [] } of row.calls) this.#addFiles(files)
    if (role !== 'assistant') {
      if (mayNameFiles(row.body ?? '')) {
        this.#addFiles(
          filesInMessage(readUserRow({ ...row, id: messageId, at: 0, versions: null })),
        )
      }
      const added = {
        type: 'message-added',
        messageId,
        role,
        parts: [],
        at: row.createdAt,
      } as const
      this.#queue = foldQueue(this.#queue, added)
      if (isReadableUserBody(row.body)) return
      const change = { kind: 'set-message', seq, body: mendUserBody(row) } as const
      const what = 'The message of a person cannot be read.'
      this.#find({ kind: 'unreadable-body', messageId, what }, [change])
      return
    }
    if (row.isOpen) {
      this.#open.set(seq, new OpenTurn(row))
      return
    }
    const turn = readExpectedTurn(row)
    if (turn === null) this.#findUnreadable(row)
    else this.#checkTurn({ row, turn, settledBy: new Map() })
    for (const id of turn === null ? [] : joinedInputs(turn)) this.#joined.add(id)
    if (turn !== null && mayNameFiles(row.body ?? '')) this.#addFiles(filesInMessage(turn))
  }

  addEvent(row: AuditEvent): void {
    const { seq, turn } = row
    const lost = readLost(row)
    this.#cover(lost ?? readRewritten(row) ?? seq, seq)
    const isElsewhere = this.#lastMessage?.seq === seq && turn?.seq !== seq
    if (lost !== undefined) this.#isQueueKnown = false
    if (lost !== undefined && !isElsewhere) return
    if (row.ofTurn && turn === null) {
      const change = isElsewhere ? remove(seq) : lose(row, null)
      this.#find({ kind: 'orphan-event', seq, what: 'The turn of this event does not exist.' }, [
        change,
      ])
      return
    }
    if (isElsewhere) this.#findOverlap(row)
    const event = readExpectedEvent(row)
    if (event.type === 'unreadable') {
      this.#isQueueKnown = false
      const what = `An event cannot be read: ${event.reason}`
      this.#find({ kind: 'unreadable-event', seq, ...ofTurn(row), what }, [lose(row, turn)])
    }
    if (isQueueEvent(event)) this.#queue = foldQueue(this.#queue, event)
    this.#versions.addEvent(event)
    if (turn === null || !isTurnEvent(event)) return
    const open = this.#open.get(turn.seq)
    if (open === undefined || (turn.bodySeq !== null && seq <= turn.bodySeq)) {
      this.#addUnseen(row)
    } else if (!open.add(row, event)) {
      const what = 'A call has a second result.'
      this.#find({ kind: 'double-result', seq, ...ofTurn(row), what }, [lose(row, turn)])
    }
  }

  addOrphanCall(callId: Problem['callId'] & string): void {
    const what = 'The turn of this call does not exist.'
    this.#find({ kind: 'orphan-call', callId, what }, [{ kind: 'remove-call', callId }])
  }

  finish(): readonly Problem[] {
    for (const open of this.#open.values()) this.#finishTurn(open)
    for (const [seq, { messageId, leftover, hidden }] of this.#unseen) {
      if (leftover.length > 0) {
        const what = `${leftover.length} of its events are already in its body.`
        this.#find({ kind: 'leftover-events', messageId, what }, leftover.map(remove))
      }
      if (hidden > 0) {
        const what = `${hidden} of its events are newer than its body and are not read.`
        const change = { kind: 'set-message', seq, isOpen: true } as const
        this.#find({ kind: 'hidden-events', messageId, what }, [change])
      }
    }
    for (const { change, ...problem } of this.#versions.find()) this.#find(problem, [change])
    this.#checkEnd()
    this.#checkQueue()
    this.#checkFiles()
    return this.#problems
  }

  #finishTurn(open: OpenTurn): void {
    const { row, settledBy } = open
    const { messageId, seq } = row
    if (!open.isBodyReadable) this.#findUnreadable(row)
    if (!open.hasStart) {
      const payload = JSON.stringify({ type: 'turn-started', replyTo: null })
      const turn = { turnId: messageId, seq }
      const change = { kind: 'set-event', seq, turn, at: row.createdAt, payload } as const
      this.#find({ kind: 'seq-gap', messageId, seq, what: 'The start of a turn is lost.' }, [
        change,
      ])
    }
    const { turn } = open
    this.#checkTurn({ row, turn, settledBy })
    for (const id of joinedInputs(turn)) this.#joined.add(id)
    this.#addFiles(filesInMessage(turn))
    const { lease, threadId } = this.thread
    if (lease?.turnId === messageId && turn.progress.status === 'running') this.#runsTurn = true
    const stuck = open.findStuck(lease, this.#now)
    if (stuck === undefined) return
    const mend = { kind: 'close-turn', turnId: messageId } as const
    this.#problems.push({ kind: 'stuck-turn', threadId, messageId, what: stuck, mend })
  }

  #checkTurn(expected: ExpectedTurn): void {
    const { row, turn } = expected
    const { messageId, seq } = row
    for (const { changes, ...problem } of compareCalls(expected)) this.#find(problem, changes)
    const { status } = turn.progress
    if (status !== 'ended') this.#hasOpenTurn = true
    if (status === row.status) return
    const what = `The row of the turn has the status ${row.status ?? 'none'}, its events result in ${status}.`
    this.#find({ kind: 'status-differs', messageId, what }, [{ kind: 'set-message', seq, status }])
  }

  #checkEnd(): void {
    const { seq, lease, threadId } = this.thread
    const { last } = this.#coverage
    if (last < seq) this.#findGap(last + 1, seq)
    if (last > seq) {
      const what = `The seq of the thread is ${seq}, that of its events is ${last}.`
      this.#find({ kind: 'thread-seq', seq: last, what }, [{ kind: 'set-seq', seq: last }])
    }
    if (lease === null || lease.isHeld || this.#runsTurn) return
    const mend = { kind: 'release-lease', turnId: lease.turnId } as const
    const what = 'The lease of a dead process, for a turn that does not run.'
    this.#problems.push({ kind: 'stale-lease', threadId, messageId: lease.turnId, what, mend })
  }

  #checkQueue(): void {
    const { threadId, queue: column, lease } = this.thread
    const queue = this.#queue.filter(({ id }) => !this.#joined.has(id))
    const text = toQueueText(queue)
    if (this.#isQueueKnown && text !== toQueueText(parseQueue(column))) {
      const what = `The queue in the row of the thread differs from its events, which have ${queue.length} queued inputs.`
      this.#find({ kind: 'queue-differs', what }, [{ kind: 'set-queue', queue: text }])
      return
    }
    const isStuck = firstReady(parseQueue(column)) !== undefined && !this.#hasOpenTurn
    if (!isStuck || lease !== null) return
    const what = 'Inputs are queued, but no turn runs or waits.'
    this.#problems.push({ kind: 'stuck-queue', threadId, what, mend: { kind: 'hold-queue' } })
  }

  #addFiles(ids: Iterable<FileId>): void {
    for (const id of ids) this.#files.add(id)
  }

  /**
   * A file without a use would be collected although a message refers to it; whether it is there, and whose it is, the
   * caller finds out. A use that nothing refers to keeps a file that nobody can see. That is not looked for while a
   * turn is open, whose tools may have made files for results that are not stored yet, nor where something could not be
   * read.
   */
  #checkFiles(): void {
    const { files: uses, queue } = this.thread
    if (uses === undefined) return
    for (const input of parseQueue(queue)) this.#addFiles(filesInMessage(input))
    const isClear = this.#problems.length === 0 && !this.#hasOpenTurn && this.thread.lease === null
    const used = new Set(uses)
    for (const fileId of this.#files) {
      if (used.has(fileId)) continue
      const what =
        'A message refers to this file, but its use is not recorded: it would be deleted.'
      this.#find({ kind: 'missing-file-use', fileId, what }, [{ kind: 'use-file', fileId }])
    }
    for (const fileId of isClear ? used : []) {
      if (this.#files.has(fileId)) continue
      const what = 'The use of this file is recorded, but nothing in the thread refers to it.'
      this.#find({ kind: 'unnamed-file-use', fileId, what }, [{ kind: 'release-file', fileId }])
    }
  }

  #addUnseen(row: AuditEvent): void {
    const { seq, turn } = row
    if (turn === null) return
    const unseen = this.#unseen.get(turn.seq) ?? { messageId: turn.turnId, leftover: [], hidden: 0 }
    this.#unseen.set(turn.seq, unseen)
    if (turn.bodySeq !== null && seq <= turn.bodySeq) unseen.leftover.push(seq)
    else unseen.hidden++
  }

  #cover(from: Seq, to: Seq): void {
    const gap = this.#coverage.cover(from, to)
    if (gap !== undefined) this.#findGap(gap.from, gap.to)
  }

  #findGap(from: Seq, to: Seq): void {
    this.#isQueueKnown = false
    const what = from === to ? 'An event is lost.' : `The events from ${from} to ${to} are lost.`
    const payload = lostPayload(from)
    const change = { kind: 'set-event', seq: to, turn: null, at: this.#now } as const
    this.#find({ kind: 'seq-gap', seq: to, what }, [{ ...change, payload }])
  }

  #findOverlap(row: AuditEvent): void {
    const { seq, turn } = row
    const { threadId } = this.thread
    const what = 'An event has the seq of a message.'
    const mend =
      turn === null
        ? ({ kind: 'rows', changes: [remove(seq)] } as const)
        : ({ kind: 'close-turn', turnId: turn.turnId } as const)
    this.#problems.push({ kind: 'seq-overlap', threadId, seq, ...ofTurn(row), what, mend })
  }

  #checkIds(row: AuditMessage): void {
    const { messageId, seq, role } = row
    const mend = role === 'assistant' ? this.#planRename(row) : nothing
    if (messageId === '') this.#findEmptyId('this message', { messageId, seq, mend })
    for (const { callId } of row.calls) {
      if (callId === '') this.#findEmptyId('this call', { messageId, callId })
    }
    const keeper = role === 'assistant' ? this.#shared.get(messageId) : undefined
    if (keeper === undefined) return
    const { threadId } = this.thread
    const what = `A turn of thread ${keeper} has the same id, so a lookup by id finds only one of the two.`
    this.#problems.push({ kind: 'shared-turn', threadId, messageId, what, mend })
  }

  /**
   * Not while the turn runs, because its run writes under the old id; and not once it is retired, because the
   * event that retired it names the id, and readers would show the turn again.
   */
  #planRename({ messageId: turnId, seq, isRetired }: AuditMessage): Mend {
    const { threadId, lease } = this.thread
    const isRunning = lease?.turnId === turnId && lease.isHeld
    if (isRetired || isRunning) return nothing
    const to = `turn-${hash('sha256', `${threadId}\n${seq}`).slice(0, 32)}` as MessageId
    return { kind: 'rows', changes: [{ kind: 'rename-turn', turn: { turnId, seq }, to }] }
  }

  #findEmptyId(
    whose: string,
    subject: Partial<Pick<Problem, 'messageId' | 'callId' | 'seq' | 'mend'>> = {},
  ): void {
    const { threadId } = this.thread
    const what = `The id of ${whose} is empty, so nobody can ask for it.`
    this.#problems.push({ kind: 'empty-id', threadId, mend: nothing, ...subject, what })
  }

  #findUnreadable(row: AuditMessage): void {
    const { seq, messageId } = row
    const change = { kind: 'set-message', seq, body: mendTurnBody(row), status: 'ended' } as const
    this.#find({ kind: 'unreadable-body', messageId, what: 'The body of a turn cannot be read.' }, [
      change,
    ])
  }

  #find(problem: Omit<Problem, 'threadId' | 'mend'>, changes: readonly RowChange[]): void {
    const { threadId } = this.thread
    this.#problems.push({ ...problem, threadId, mend: { kind: 'rows', changes } })
  }
}

const nothing: Mend = { kind: 'none' }

const ofTurn = ({ turn }: AuditEvent) => (turn === null ? {} : { messageId: turn.turnId })

const remove = (seq: Seq): RowChange => ({ kind: 'remove-event', seq })

const lose = ({ seq, at }: AuditEvent, turn: AuditEvent['turn']): RowChange => ({
  kind: 'set-event',
  seq,
  turn,
  at,
  payload: lostPayload(),
})

interface Gap {
  readonly from: Seq
  readonly to: Seq
}

/** Which seqs of a thread its rows have; each must belong to an event (LG1). Rows come in order of seq. */
class SeqCoverage {
  #next: Seq = 1

  /** Returns the gap before these seqs, if there is one. */
  cover(from: Seq, to: Seq): Gap | undefined {
    const gap = from > this.#next ? { from: this.#next, to: from - 1 } : undefined
    this.#next = Math.max(this.#next, to + 1)
    return gap
  }

  /** The highest seq that any row has. */
  get last(): Seq {
    return this.#next - 1
  }
}
