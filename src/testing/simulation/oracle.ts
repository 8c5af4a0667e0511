import { type Call, type CallState, type Decision, isOpenCall } from '../../core/call.ts'
import {
  isTurnEvent,
  type LedgerEvent,
  type NewTurnEvent,
  numberEvents,
  type TurnEvent,
} from '../../core/event.ts'
import type { foldThread, ThreadView } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import { callsOf, type Message, type Part, type Turn } from '../../core/message.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult } from '../../store/store.ts'
import type { InputQueue } from '../../core/queued-input.ts'

/** Reports a broken rule; the first one ends the simulation. */
export type Report = (rule: string, message: string) => void

/** A rule that was violated. */
export interface Violation {
  /** The rule of docs/spec.md that was broken. */
  readonly rule: string
  readonly message: string
  /** How many scheduled tasks had run before. */
  readonly step: number
}

/**
 * Holds the expected state of one thread: it sees every append between the processes and the store, in commit order,
 * and folds it independently of both. Pages, viewers, prompts and tool runs are compared with it.
 */
export interface Oracle {
  readonly view: ThreadView
  readonly events: readonly LedgerEvent[]
  /** Every turn that was ever started, retired ones too. */
  readonly turns: ReadonlyMap<MessageId, Turn>
  readonly decisions: ReadonlyMap<CallId, Decision>
  /** Null: the thread has no run. */
  readonly lease: ObservedLease | null
  /** The seq of the last commit under the lease. The run may not have seen yet what others appended since. */
  readonly runSeq: Seq
  /** The view after the commit that ended with this seq; undefined if no commit did. */
  viewAt(seq: Seq): ThreadView | undefined
  countOf(type: 'call-started' | 'call-resolved', callId: CallId): number
  observe(append: Append, result: AppendResult): void
  /** A stop of the current run was requested: from now on its lease may be acquired from a live holder. */
  stopRequested(): void
}

export interface ObservedLease {
  readonly fence: number
  readonly holder: string
  readonly until: number
  /** The same process held the previous lease, and may not have noticed yet that it lost that one. */
  readonly isAgain: boolean
}

export interface OracleOptions {
  readonly now: () => number
  readonly isAlive: (holder: string) => boolean | undefined
  readonly fold: typeof foldThread
  readonly report: Report
}

type Appended = Extract<AppendResult, { readonly kind: 'appended' }>

export function createOracle(threadId: ThreadId, options: OracleOptions): Oracle {
  const { report, now } = options
  const views = new Map<Seq, ThreadView>([[0, { seq: 0, messages: [] }]])
  const turns = new Map<MessageId, Turn>()
  const decisions = new Map<CallId, Decision>()
  const counts = new Map<string, number>()
  const events: LedgerEvent[] = []
  const held = new Map<Seq, Message>()
  let view = views.get(0) as ThreadView
  let lease: ObservedLease | null = null
  let fence = 0
  let stoppedFence = 0
  let runSeq: Seq = 0

  const observeLease = (append: Append, result: Appended) => {
    const use = append.lease
    if (use === undefined) {
      const unleased = append.events.find((event) => isTurnEvent(event) && isRunEvent(event))
      if (unleased !== undefined) report('CR2', `${unleased.type} was written without the lease`)
      return
    }
    if (use.kind === 'acquire') {
      const isHeld =
        lease !== null && lease.until > now() && options.isAlive(lease.holder) !== false
      // A process that ends a turn acquires the lease of the next one (IN2), or of one that it gave up: it takes no
      // other process's lease.
      const isOwn = use.overFence === fence && lease?.holder === use.holder
      if (isHeld && stoppedFence !== fence && !isOwn) {
        report('RS5', 'a run was taken from a live one')
      }
      if (result.fence === undefined || result.fence <= fence) report('CR2', 'a fence did not grow')
      fence = result.fence ?? fence
      const isAgain = lease?.holder === use.holder
      lease = { fence, holder: use.holder, until: now() + use.ttlMs, isAgain }
      return
    }
    if (lease === null || use.fence !== fence) {
      report('CR2', `fence ${use.fence} wrote when ${lease === null ? 'none' : fence} was held`)
    }
    if (use.kind === 'release') lease = null
    else if (use.renewMs !== undefined && lease !== null) {
      lease = { ...lease, until: now() + use.renewMs }
    }
  }

  const foldInto = (fresh: readonly LedgerEvent[]) => {
    const resolved = new Set<CallId>()
    const touched = new Map<MessageId, TurnEvent[]>()
    for (const event of fresh) {
      if (!isTurnEvent(event)) continue
      if ('delta' in event && !event.delta.isWellFormed()) {
        report('LG8', `half a character was stored as ${event.seq}`)
      }
      if (event.type === 'call-decided') {
        if (decisions.has(event.callId)) report('AP2', `${event.callId} was decided twice`)
        decisions.set(event.callId, event.decision)
      }
      if (event.type === 'call-resolved') resolved.add(event.callId)
      if (event.type === 'call-started' || event.type === 'call-resolved') {
        const isCounted = event.type === 'call-started' || event.resolution.kind === 'retry'
        const key = `${event.type} ${event.callId}`
        if (isCounted) counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      const run = touched.get(event.turnId) ?? []
      touched.set(event.turnId, [...run, event])
    }
    for (const [id, run] of touched) {
      const before = turns.get(id)
      const first = run[0] as TurnEvent
      const start = before ?? emptyTurn(id, first.seq, first.at)
      for (const [index, event] of run.entries()) {
        if (event.type !== 'input-joined') continue
        checkJoin(foldTurn(start, run.slice(0, index)), event.messageId, report)
      }
      turns.set(id, foldTurn(start, run))
    }
    const before = view
    const { outdatedAt: _, ...folded } = options.fold(
      view,
      fresh.map((event) => ({ kind: 'event', seq: event.seq, event })),
    )
    archive(folded.messages)
    // Hidden messages are kept here: shown again, each is at its old position, unchanged (VR1).
    const places = fresh.flatMap((event) => (event.type === 'messages-shown' ? event.places : []))
    const shown = places.flatMap((place) => held.get(place) ?? []).map(asItEnded)
    if (shown.length < places.length) report('VR1', `of ${places.join(' ')} some were never there`)
    const messages = [...folded.messages, ...shown].sort((left, right) => left.seq - right.seq)
    view = shown.length === 0 ? folded : { ...folded, messages }
    views.set(view.seq, view)
    checkProgress(before, fresh, resolved)
    checkQueue(before, fresh, view, report)
  }

  /** A turn may have ended in the commit that hid it. */
  const asItEnded = (message: Message): Message => {
    const turn = message.role === 'assistant' ? turns.get(message.id) : undefined
    return turn === undefined ? message : { ...turn, ...pickVersions(message) }
  }

  /** The last state of every message, with the versions that were created since. */
  const archive = (messages: readonly Message[]) => {
    for (const message of messages) {
      if (held.get(message.seq) === message) continue
      held.set(message.seq, message)
      for (const { seq } of message.versions ?? []) {
        const sibling = held.get(seq)
        const isNew = (message.versions?.length ?? 0) > (sibling?.versions?.length ?? 0)
        if (sibling !== undefined && isNew) held.set(seq, { ...sibling, ...pickVersions(message) })
      }
    }
  }

  const checkProgress = (
    before: ThreadView,
    fresh: readonly LedgerEvent[],
    resolved: ReadonlySet<CallId>,
  ) => {
    const retired = new Set(
      fresh.flatMap((event) => (event.type === 'messages-retired' ? event.messageIds : [])),
    )
    for (const message of before.messages) {
      const now = view.messages.find(({ seq }) => seq === message.seq)
      if (now === message || retired.has(message.id)) continue
      if (now === undefined) report('CR1', `the message ${message.id} is gone`)
      else if (message.role === 'assistant' && now.role === 'assistant') {
        const found = findRegression(message, now, resolved)
        if (found !== undefined) report(found.rule, found.message)
      }
    }
  }

  return {
    get view() {
      return view
    },
    events,
    turns,
    decisions,
    get lease() {
      return lease
    },
    get runSeq() {
      return runSeq
    },
    stopRequested() {
      stoppedFence = fence
    },
    viewAt: (seq) => views.get(seq),
    countOf: (type, callId) => counts.get(`${type} ${callId}`) ?? 0,
    observe(append, result) {
      if (append.threadId !== threadId || result.kind !== 'appended') return
      observeLease(append, result)
      const { firstSeq, seq } = result
      if (append.lease !== undefined) runSeq = seq
      if (firstSeq !== view.seq + 1 || seq !== view.seq + append.events.length) {
        report('LG1', `after ${view.seq} came ${append.events.length} as ${firstSeq} to ${seq}`)
      }
      const fresh = numberEvents(append.events, firstSeq)
      events.push(...fresh)
      if (fresh.length > 0) foldInto(fresh)
    },
  }
}

const pickVersions = ({ versions }: Message): Pick<Message, 'versions'> =>
  versions === undefined ? {} : { versions }

const byOthers: ReadonlySet<NewTurnEvent['type']> = new Set([
  'call-decided',
  'call-resolved',
  'call-settled',
  'turn-ended',
  'feedback-given',
])

/** Events that only the run of a turn may append. */
const isRunEvent = (event: NewTurnEvent): boolean => !byOthers.has(event.type)

/**
 * The progress of a call in its lifecycle. Written independently of the transition table of core, so that a wrong table
 * shows.
 */
const rank: Readonly<Record<CallState, number>> = {
  streaming: 0,
  'awaiting-approval': 1,
  ready: 2,
  running: 3,
  succeeded: 4,
  failed: 4,
  denied: 4,
  stopped: 4,
  interrupted: 4,
  unknown: 4,
}

/** What a turn lost or reverted between two commits (CL2, CR1), or undefined. */
function findRegression(
  before: Turn,
  after: Turn,
  resolved: ReadonlySet<CallId>,
): { readonly rule: string; readonly message: string } | undefined {
  for (const [index, step] of before.steps.entries()) {
    const next = after.steps[index]
    if (next === step) continue
    if (next === undefined || next.parts.length < step.parts.length) {
      return { rule: 'CR1', message: `step ${index} of ${after.id} lost what it had` }
    }
    for (const [place, part] of step.parts.entries()) {
      const found = findPartRegression(part, next.parts[place] as Part, resolved)
      if (found !== undefined) return found
    }
  }
  return undefined
}

function findPartRegression(
  before: Part,
  after: Part,
  resolved: ReadonlySet<CallId>,
): { readonly rule: string; readonly message: string } | undefined {
  if (before === after) return undefined
  if (before.type === 'call') {
    if (after.type !== 'call' || after.id !== before.id) {
      return { rule: 'CR1', message: `the call ${before.id} is gone from its place` }
    }
    const message = findCallRegression(before, after, resolved.has(before.id))
    return message === undefined ? undefined : { rule: 'CL2', message }
  }
  if (before.type === 'text' || before.type === 'reasoning') {
    if (after.type !== before.type || !after.text.startsWith(before.text)) {
      return { rule: 'CR1', message: `"${before.text}" is gone from its place` }
    }
  }
  return undefined
}

function findCallRegression(before: Call, after: Call, isResolved: boolean): string | undefined {
  if (before.state === 'unknown' && isResolved) return undefined
  const isEnded = rank[before.state] === 4
  if (isEnded ? after.state === before.state : rank[after.state] >= rank[before.state]) {
    return undefined
  }
  return `the call ${before.id} went from ${before.state} to ${after.state}`
}

/**
 * Checks what one commit does with the queue. Written independently of the engine's planning, so that a wrong plan
 * shows: inputs are answered in order (IN2), an interrupting one before all others (IN4), and none is left in a thread
 * that nothing runs.
 */
function checkQueue(
  before: ThreadView,
  fresh: readonly LedgerEvent[],
  after: ThreadView,
  report: Report,
): void {
  const { queue = [] } = before
  for (const event of fresh) {
    if (event.type !== 'message-added' || !queue.some(({ id }) => id === event.messageId)) continue
    const due = findDue(queue, fresh)
    if (due === event.messageId) continue
    report('IN2', `${event.messageId} was answered out of its order: it was the turn of ${due}`)
  }
  const isBusy = after.messages.some(
    (message) => message.role === 'assistant' && message.progress.status !== 'ended',
  )
  const left = isBusy ? undefined : after.queue?.find(({ held }) => !held)
  if (left !== undefined) report('IN2', `${left.id} waits and nothing runs`)
}

function findDue(queue: InputQueue, fresh: readonly LedgerEvent[]): MessageId | undefined {
  const isReleased = fresh.some(({ type }) => type === 'queue-released')
  const joined = new Set(
    fresh.flatMap((event) => (event.type === 'input-joined' ? [event.messageId] : [])),
  )
  const ready = queue.filter(({ id, held }) => (!held || isReleased) && !joined.has(id))
  const isStopped = fresh.some(
    (event) => event.type === 'turn-ended' && event.ending.kind === 'stopped',
  )
  return ready.find(({ mode }) => !isStopped || mode === 'interrupt')?.id
}

/** An input joins after a step that has ended, with no call open (IN3). */
function checkJoin(turn: Turn, messageId: MessageId, report: Report): void {
  const isBehindStep = turn.steps.at(-1)?.status === 'ended'
  if (isBehindStep && ![...callsOf(turn)].some(isOpenCall)) return
  report('IN3', `${messageId} joined ${turn.id} in the middle of a step`)
}

/** Each queued input is answered once, withdrawn, or still queued (IN6). */
export function checkAnsweredOnce(
  events: readonly LedgerEvent[],
  queue: InputQueue,
  report: Report,
): void {
  const counts = new Map<MessageId, { queued: number; done: number }>()
  const countOf = (id: MessageId) => {
    const count = counts.get(id) ?? { queued: 0, done: 0 }
    counts.set(id, count)
    return count
  }
  const retired = new Set<MessageId>()
  for (const event of events) {
    if (event.type === 'messages-retired') for (const id of event.messageIds) retired.add(id)
    if (event.type === 'input-queued') countOf(event.input.id).queued++
    if (event.type === 'input-joined' || event.type === 'input-withdrawn') {
      countOf(event.messageId).done++
    }
    // An edit that keeps the id replaces a message that was answered.
    if (event.type === 'message-added' && !retired.has(event.messageId)) {
      const count = counts.get(event.messageId)
      if (count !== undefined) count.done++
    }
  }
  for (const { id } of queue) countOf(id).done++
  for (const [id, { queued, done }] of counts) {
    if (queued === done) continue
    report('IN6', `${id} was stored to wait ${queued} times, and was answered ${done} times`)
  }
}
