import type { Decision } from '../../core/call.ts'
import {
  isTurnEvent,
  type LedgerEvent,
  type NewTurnEvent,
  type TurnEvent,
} from '../../core/event.ts'
import type { foldThread, ThreadView } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import type { CallId, MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { AppendResult } from '../../store/store.ts'
import { findRegression } from './find-regression.ts'
import type { Report } from './violation.ts'

/**
 * Stands between the processes and the store and writes down every fact that was stored, when it was.
 * What it folds from that is what everybody must see.
 */
export interface Witness {
  readonly view: ThreadView
  readonly events: readonly LedgerEvent[]
  /** Every turn there ever was, retired ones too. */
  readonly turns: ReadonlyMap<MessageId, Turn>
  readonly decisions: ReadonlyMap<CallId, Decision>
  /** Null: nobody runs the thread. */
  readonly lease: WitnessedLease | null
  /** Of the last commit that was made with the lease: what others wrote since, the run may not know. */
  readonly runSeq: Seq
  /** As it stood after the commit that reached this seq. */
  viewAt(seq: Seq): ThreadView | undefined
  countOf(type: 'call-started' | 'call-resolved', callId: CallId): number
  observe(append: Append, result: AppendResult): void
  /** Somebody asked the holder to stop: from now on the run may be taken from it. */
  stopAsked(): void
}

export interface WitnessedLease {
  readonly fence: number
  readonly holder: string
  readonly until: number
  /** The same process had it before and may not know yet that it lost it. */
  readonly isAgain: boolean
}

export interface WitnessOptions {
  readonly now: () => number
  readonly isAlive: (holder: string) => boolean | undefined
  readonly fold: typeof foldThread
  readonly report: Report
}

type Appended = Extract<AppendResult, { readonly kind: 'appended' }>

export function createWitness(threadId: ThreadId, options: WitnessOptions): Witness {
  const { report, now } = options
  const views = new Map<Seq, ThreadView>([[0, { seq: 0, messages: [] }]])
  const turns = new Map<MessageId, Turn>()
  const decisions = new Map<CallId, Decision>()
  const counts = new Map<string, number>()
  const events: LedgerEvent[] = []
  let view = views.get(0) as ThreadView
  let lease: WitnessedLease | null = null
  let fence = 0
  let stoppedFence = 0
  let runSeq: Seq = 0

  const observeLease = (append: Append, result: Appended) => {
    const use = append.lease
    if (use === undefined) {
      const stray = append.events.find((event) => isTurnEvent(event) && isRunFact(event))
      if (stray !== undefined) report('CR2', `${stray.type} was written without the lease`)
      return
    }
    if (use.kind === 'acquire') {
      const isHeld =
        lease !== null && lease.until > now() && options.isAlive(lease.holder) !== false
      if (isHeld && stoppedFence !== fence) report('RS5', 'a run was taken from a live one')
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
      const after = foldTurn(before ?? emptyTurn(id, first.seq, first.at), run)
      turns.set(id, after)
    }
    const before = view
    view = options.fold(
      view,
      fresh.map((event) => ({ kind: 'event', seq: event.seq, event })),
    )
    views.set(view.seq, view)
    checkProgress(before, fresh, resolved)
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
    stopAsked() {
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
      const fresh = append.events.map((event, index): LedgerEvent => ({
        ...event,
        seq: firstSeq + index,
      }))
      events.push(...fresh)
      if (fresh.length > 0) foldInto(fresh)
    },
  }
}

const byOthers: ReadonlySet<NewTurnEvent['type']> = new Set([
  'call-decided',
  'call-resolved',
  'call-settled',
  'turn-ended',
])

/** What only the run of a turn may say. */
const isRunFact = (event: NewTurnEvent): boolean => !byOthers.has(event.type)
