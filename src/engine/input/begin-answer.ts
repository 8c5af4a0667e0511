import type { Leave } from '../../core/fair-gate.ts'
import { type NewEvent, numberEvents } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { MessageId, OwnerId, Seq, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Message, Turn, TurnEnding } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import { firstReady } from '../../core/queue.ts'
import type { InputMode, InputQueue, NewInput } from '../../core/queued-input.ts'
import type { MessageVersion } from '../../core/versions.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { WhenBusy } from '../../protocol/chat-body.ts'
import type { ThreadToCreate } from '../../store/plan-commit.ts'
import { retryInLine } from '../threads/writers-in-line.ts'
import { noModel } from '../agent/no-model.ts'
import type { Begin, Engine, Work } from '../engine.ts'
import { takeOver } from '../run/recover.ts'
import { stopRun } from '../run/stop.ts'
import { enterLongEdit } from '../threads/long-edits.ts'
import type { ReadDownOptions } from '../threads/read-latest.ts'
import { planHiding } from '../threads/show-version.ts'
import { enqueue, idTaken, type QueuedResult } from './queue-input.ts'
import type { SentBefore } from './sent-before.ts'

/** `after`: following from this seq shows the turn from its beginning. */
export type SendResult =
  | {
      readonly kind: 'started'
      readonly turnId: MessageId
      readonly after: Seq
      /** The incarnation of the thread that `after` is a seq of (OP6). */
      readonly incarnation?: string
      /** The message before it, where the thread had any. */
      readonly previous?: MessageId
      /** The turn as it was stored: followed from its `lastSeq` on, nothing of it is missed. */
      readonly turn: Turn
    }
  | SentBefore
  | { readonly kind: 'run-active'; readonly turnId: MessageId }
  | { readonly kind: 'no-thread' }
  | QueuedResult

/** The host application's own loop, which produces the answer in place of the engine's. */
export type WorkFor = (turnId: MessageId) => Work

/** What is stored before the turn begins, and what the turn begins with. */
export interface AnswerPlan {
  readonly ownerId: OwnerId
  readonly choices: Json | undefined
  readonly seq: Seq
  /** The incarnation of the thread that was read; undefined: none was read, or it is not known (OP6). */
  readonly incarnation: string | undefined
  /** The inputs that wait at `seq`. */
  readonly queue: InputQueue
  readonly last: Message | undefined
  /** The replaced messages, newest first, and the seq of the message before them. */
  readonly replaced: { readonly path: readonly MessageVersion[]; readonly after: Seq } | null
  /** The versions of the answer. */
  readonly versionOf?: readonly MessageVersion[]
  readonly replyTo: MessageId | null
  readonly events: readonly NewEvent[]
  /** All messages before the events, oldest first, if they have been read. */
  readonly history: readonly Message[] | null
}

type OnLong = NonNullable<ReadDownOptions['onLong']>

/** What does not depend on the stored thread, and so is the same at each attempt. */
export interface AnswerRequest {
  readonly threadId: ThreadId
  readonly create?: Omit<ThreadToCreate, 'at'>
  readonly whenBusy: WhenBusy
  /** The message as a queued input. Absent: it cannot be queued, because it replaces something. */
  readonly toInput?: (mode: InputMode) => NewInput
}

/**
 * Stores the message, ends a turn that was still waiting (AP8) and begins the run, all in one commit; or, while a turn
 * runs, stores it as a queued input (IN1). A message that is refused is not stored, and one that is stored is answered
 * (LG6, RS5).
 */
export async function beginAnswer(
  engine: Engine,
  { threadId, create, whenBusy, toInput }: AnswerRequest,
  /** `onLong` is to be waited for before a long thread is read. */
  plan: (onLong: OnLong) => Promise<AnswerPlan | SendResult | null>,
  work?: WorkFor,
): Promise<SendResult> {
  if (work === undefined && !engine.agents.canAnswer) throw noModel()
  // A loop of the host's own is under way already: whether that is still begun is the host's decision.
  if (work === undefined) engine.assertOpen()
  const recorded = work === undefined ? {} : ({ recorded: true } as const)
  const attempt = async (onLong: OnLong, leaveLong: Leave): Promise<SendResult | 'stale'> => {
    const planned = await plan(onLong)
    if (planned === null) return 'stale'
    if ('kind' in planned) return planned
    const { last, replaced, replyTo, seq, incarnation, ownerId, choices, queue } = planned
    const left = last?.role === 'assistant' && last.progress.status !== 'ended' ? last : null
    const isRunning = left?.progress.status === 'running'
    const whileBusy = async (turnId: MessageId): Promise<SendResult | 'stale'> => {
      if (toInput === undefined && whenBusy === 'interrupt') {
        // Nobody else has to wait until a tool has ended.
        leaveLong()
        await stopRun(engine, threadId, ownerId)
        return 'stale'
      }
      if (left === null || toInput === undefined || whenBusy === 'reject') {
        return { kind: 'run-active', turnId }
      }
      const input = toInput(whenBusy)
      const place = { threadId, expectedSeq: seq, incarnation, queue }
      return enqueue(engine, { ...place, input, turn: left })
    }
    // The process of the run may be dead. Then the turn is taken over, and this message waits for it.
    if (isRunning && (await takeOver(engine, threadId, !engine.agents.canAnswer))) {
      return whenBusy === 'reject' ? { kind: 'run-active', turnId: left.id } : 'stale'
    }
    // Inputs that are queued behind a turn that waits for a person are not overtaken, except by an interrupt.
    const isBehind = toInput !== undefined && firstReady(queue) !== undefined
    if (left !== null && isBehind && whenBusy !== 'interrupt') return whileBusy(left.id)
    // A turn of the engine's loop has a lease for as long as it runs. If the lease expires between these two reads, the
    // turn is taken over; beginning a new turn over it would break off an answer that a person waits for (CR5).
    if (isRunning && left.recorded !== true) return whileBusy(left.id)
    const own = engine.runs.get(threadId)
    if (isRunning && own?.turnId === left.id) return whileBusy(left.id)
    const at = engine.clock.now()
    const turnId = engine.newMessageId()
    const before: readonly NewEvent[] = [
      ...(left === null ? [] : planTurnEnd(left, endingOf(left, planned), at)),
      ...(replaced === null ? [] : [planHiding(replaced.path.toReversed(), replaced.after, at)]),
      ...planned.events,
    ]
    const started = withDefined(
      { type: 'turn-started', turnId, at, replyTo, ...recorded } as const,
      { choices, versionOf: planned.versionOf },
    )
    const result = await engine.begin({
      threadId,
      ownerId,
      turnId,
      how: 'sent',
      events: [...before, started],
      expectedSeq: seq,
      incarnation,
      isIdle: !isRunning,
      // A thread that was read with anything in it is not created again: the commit of a new thread costs more.
      ...(create === undefined || seq > 0 ? {} : { create: { ...create, at } }),
      ...(work === undefined ? {} : { work: work(turnId) }),
      turns: left === null ? [] : [left],
      queue,
      // Messages that are closed or retired here have changed since they were read.
      ...(before.length > planned.events.length ? {} : toHistory(planned)),
    })
    if (result.kind === 'appended') {
      const { seq: first } = result
      const turn = foldTurn(emptyTurn(turnId, first, at), [{ ...started, seq: first }])
      const begun = { kind: 'started', turnId, after: first - 1, turn } as const
      return withDefined(begun, {
        incarnation: result.incarnation,
        previous: planned.last?.id,
      })
    }
    if (result.kind === 'leased') {
      return isRunning ? whileBusy(result.turnId) : { kind: 'run-active', turnId: result.turnId }
    }
    if (result.kind === 'no-thread') return { kind: 'no-thread' }
    if (result.kind === 'illegal' && result.subject === 'message' && result.id !== turnId) {
      throw idTaken()
    }
    if (result.kind === 'stale') return result.kind
    throw new HoldfastError('store-failed', `The message could not be stored: ${result.kind}.`)
  }
  return retryInLine(engine, threadId, async () => {
    let leave: Leave | undefined
    const leaveLong = () => leave?.()
    const onLong: OnLong = async (ownerId) => {
      leave = await enterLongEdit(engine.store, ownerId)
    }
    return attempt(onLong, leaveLong).finally(leaveLong)
  })
}

/** With the expected seq, the messages read and the events added are the whole history. */
function toHistory({ seq, events, history }: AnswerPlan): Pick<Begin, 'history'> {
  if (history === null) return {}
  const { messages } = foldThread(
    { seq, messages: history },
    numberEvents(events, seq + 1).map((event) => ({ kind: 'event', seq: event.seq, event })),
  )
  return { history: messages }
}

/**
 * A running turn of the engine's loop holds a lease and is not touched; one without a lease is a loop of the host
 * application that was broken off.
 */
function endingOf(left: Turn, { events }: AnswerPlan): TurnEnding {
  if (left.progress.status !== 'waiting') return { kind: 'interrupted' }
  // Without a message of its own the answer is regenerated.
  return events.length === 0 ? { kind: 'superseded', by: 'regenerate' } : { kind: 'superseded' }
}
