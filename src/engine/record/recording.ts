import type { Call, CallOutcome } from '../../core/call.ts'
import { outcomeAtEnd } from '../../core/change-call.ts'
import { toReadableThrown } from '../../core/error-text.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { callsOf, type Turn, type TurnEnding, type TurnWait } from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import { FencedError } from '../run/append-refusal.ts'
import { measureJson } from '../../core/json-size.ts'
import { createAnswerMeter, type Overrun } from '../run/answer-meter.ts'
import type { RunResults } from '../run/result-memory.ts'
import { memoryOf } from '../run/turn-size.ts'
import { endRun } from '../run/end-run.ts'
import { pacerOf } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { partsAtOnce } from '../model/call-model.ts'
import { isClients, isDecided, judgeRecording, type StreamEnd } from './judge-recording.ts'
import {
  type RecordedLoop,
  type RecordedPart,
  type RecordedSource,
  toRecordedParts,
} from './recorded-parts.ts'
import { isSource, notASource } from './record-request.ts'
import { createRecorder, planBegun, type RecorderParts } from './recorder.ts'
import { readModelMessages, resumeRecorded } from './resume-recorded.ts'
import type { Interruption, StartedRun } from '../run/run.ts'
import { toFinishReason } from '../model/translate-part.ts'

export interface Recorded {
  readonly run: StartedRun
  readonly stream: ReadableStream<RecordedPart>
  /** Aborted when the recording can no longer be stored. */
  readonly lost: AbortSignal
}

export interface RecordingParts extends RecorderParts {
  readonly engine: Engine
  readonly source: RecordedSource | RecordedLoop
  readonly results: RunResults
}

/** A loop may send more parts after its end; after this long without one it is considered done. */
const afterEndMs = 1_000

/** Reads a host application's loop to its end, stores its parts, and passes them on once they are stored. */
export function startRecording(parts: RecordingParts): Recorded {
  const { engine, source, ledger, hooks, failureTexts, threadId, turnId, results } = parts
  const { clock, options } = engine
  const { readable, writable } = new TransformStream<RecordedPart, RecordedPart>(
    {},
    { highWaterMark: Number.POSITIVE_INFINITY },
    { highWaterMark: Number.POSITIVE_INFINITY },
  )
  const output = writable.getWriter()
  const lost = new AbortController()
  let interruption: Interruption | null = null
  /** Ends the wait for the next part. */
  let wake = (): void => {}
  const interrupt = (reason: Interruption): void => {
    interruption ??= reason
    wake()
  }
  let held: RecordedPart[] = []
  let cancelTimer: (() => void) | null = null
  let last: Promise<void> = Promise.resolve()

  // One after the other, or the parts of a later commit could be shown before those of an earlier one.
  const flush = (): Promise<void> => {
    cancelTimer?.()
    cancelTimer = null
    const given = held
    held = []
    last = last.then(async () => {
      await ledger.commit().catch(rethrowAsStoreFault)
      // The reader may be gone; the parts are stored.
      for (const part of given) await output.write(part).catch(() => undefined)
    })
    return last
  }

  const nextPart = (iterator: AsyncIterator<RecordedPart>, isOver: boolean) => {
    // One promise for each part: a promise of the whole recording would hold every part that was raced against it.
    const next = Promise.withResolvers<IteratorResult<RecordedPart> | 'interrupted' | 'silent'>()
    wake = () => next.resolve('interrupted')
    if (interruption !== null) wake()
    iterator.next().then(next.resolve, next.reject)
    if (!isOver) return next.promise
    const cancel = clock.after(afterEndMs, () => next.resolve('silent'))
    return next.promise.finally(cancel)
  }

  /** The turn is cut off where its results are too much beside those of the other running turns. */
  const holdResult = (part: RecordedPart): Overrun<RecordedPart> | null => {
    if (part.type !== 'tool-result') return null
    const size = measureJson(part.output, options.maxResultChars)
    // A larger one is not stored: its call fails (ST4b).
    if (size.chars > options.maxResultChars || results.hold(memoryOf(size))) return null
    return { limit: { what: 'turn', most: options.maxTurnChars }, rest: null }
  }

  const open = async (): Promise<RecordedSource> => {
    if (typeof source !== 'function') return source
    const messages = await readModelMessages(engine, threadId)
    const opened = await source({ threadId, turnId, messages })
    if (!isSource(opened)) throw notASource(opened)
    return opened
  }

  /** Null: the recording was interrupted. `left`: to be aborted when nothing more is wanted. */
  const consume = async (left: AbortController): Promise<StreamEnd | null> => {
    const recorder = createRecorder(parts)
    const meter = createAnswerMeter(options, ledger.expected)
    const iterator = toRecordedParts(open, left.signal)
    let streamEnd: StreamEnd = { finishReason: null, isAborted: false }
    let isOver = false
    const pace = pacerOf(clock)
    for (let count = 1; ; count++) {
      const read = await nextPart(iterator, isOver)
      if (count % partsAtOnce === 0) await pace()
      if (typeof read === 'string') {
        // The host application's loop is cancelled by closing its stream; it is not awaited.
        left.abort()
        if (read === 'interrupted') return null
        break
      }
      if (read.done === true) break
      const over = meter.count(read.value) ?? holdResult(read.value)
      if (over !== null) {
        // The answer ends here, whatever the loop would still produce; the loop is cancelled by closing its stream
        // (ST4a).
        left.abort()
        if (over.rest !== null) held.push(...(await recorder.record(over.rest)))
        streamEnd = { finishReason: 'length', isAborted: false, limit: over.limit }
        break
      }
      const part = read.value
      for (const given of await recorder.record(part)) held.push(given)
      if (part.type === 'abort') streamEnd = { ...streamEnd, isAborted: true }
      if (part.type === 'error') streamEnd = { ...streamEnd, fault: { error: part.error } }
      if (part.type === 'finish')
        streamEnd = { ...streamEnd, finishReason: part.finishReason ?? 'other' }
      isOver ||= part.type === 'abort' || part.type === 'error' || part.type === 'finish'
      if (isUrgent(part)) await flush()
      else cancelTimer ??= clock.after(options.textDelayMs, () => void flush().catch(fault))
    }
    held.push(...recorder.end())
    await flush()
    return streamEnd
  }

  const fault = (error: unknown) => interrupt({ kind: 'fault', error })

  const end = async (ending: TurnEnding, finishReason = ''): Promise<void> => {
    const plan = (turn: Turn) => planRecordedEnd(turn, ending, finishReason, clock.now())
    await endRun({ ledger, clock, hooks }, { ending, plan })
  }

  const pause = async (waitingFor: TurnWait): Promise<void> => {
    const plan = (turn: Turn) => ({ events: planPause(turn, waitingFor, clock.now()) })
    while ((await ledger.commitIfCurrent(plan, 'release')) === null);
    hooks.turnPaused(waitingFor)
    // A decision may have been made while the stream was still open; `resumeRecorded` is not called for it elsewhere. Not
    // awaited: what the host application does next is not part of this recording.
    void resumeRecorded(engine, threadId, turnId)
  }

  const finish = async (): Promise<void> => {
    const decided = [...callsOf(ledger.turn)].filter(isDecided).map(({ id }) => id)
    const left = new AbortController()
    // The host application's loop is cancelled also where what it produces cannot be stored.
    const streamEnd = await consume(left).finally(() => left.abort())
    if (streamEnd === null) {
      if (interruption?.kind === 'fault') throw interruption.error
      return end({ kind: interruption?.kind === 'stop' ? 'stopped' : 'interrupted' })
    }
    const verdict = judgeRecording(ledger.expected, streamEnd, toTurnError, new Set(decided))
    if (verdict.kind === 'wait') return pause(verdict.waitingFor)
    return end(verdict.ending, streamEnd.finishReason ?? 'stop')
  }

  const toTurnError = (error: unknown) => failureTexts.ofModel(error, ledger.expected.steps.length)
  const failureOf = (error: unknown): TurnEnding => ({ kind: 'failed', error: toTurnError(error) })

  /** Commits the end of the turn as failed, if the store can be written. */
  const fail = async (error: unknown): Promise<void> => {
    if (error instanceof FencedError) throw error
    const ending = failureOf(error)
    try {
      await end(ending)
    } catch {
      // After a failed write nothing more may be written before it is known what was stored (LG3).
      await ledger.reload()
      await end(ending)
    }
  }

  const work = async (): Promise<void> => {
    try {
      await finish()
    } catch (thrown) {
      const error = toReadableThrown(thrown)
      await fail(error).catch((fatal: unknown) => {
        hooks.turnLost(fatal instanceof FencedError ? undefined : fatal)
        lost.abort(error)
      })
      // Held parts were not stored and are not shown. The error part reports it, or the reader would take the stream
      // for a complete one.
      await output.write({ type: 'error', error }).catch(() => undefined)
    }
    cancelTimer?.()
    await output.close().catch(() => undefined)
  }

  const run: StartedRun = {
    done: work().finally(() => results.release()),
    interrupt,
  }
  return { run, stream: readable, lost: lost.signal }
}

const isUrgent = (part: RecordedPart): boolean =>
  !/^(text|reasoning|tool-input)-/.test(part.type) && part.type !== 'start'

function rethrowAsStoreFault(error: unknown): never {
  if (error instanceof FencedError || error instanceof HoldfastError) throw error
  throw new HoldfastError('store-failed', 'The answer could not be stored.', { cause: error })
}

/** Open calls of the host application's loop end as started, because it is not known that they were not. */
function planRecordedEnd(
  turn: Turn,
  ending: TurnEnding,
  finishReason: string,
  at: number,
): readonly NewTurnEvent[] {
  const isCompleted = ending.kind === 'completed'
  const outcomeOf = (call: Call): CallOutcome => {
    if (isCompleted) return { state: 'interrupted', cause: 'no-result' }
    return ending.kind === 'interrupted' && isClients(call)
      ? { state: 'unknown', cause: 'crashed' }
      : outcomeAtEnd(ending, call)
  }
  const events = [...planBegun(turn, at), ...planTurnEnd(turn, ending, at, outcomeOf)]
  if (!isCompleted && ending.kind !== 'cut-off') return events
  // Many loops report that they are done, but not that their step is.
  return events.map((event) =>
    event.type === 'step-ended' ? { ...event, finishReason: toFinishReason(finishReason) } : event,
  )
}

function planPause(turn: Turn, waitingFor: TurnWait, at: number): readonly NewTurnEvent[] {
  const { id: turnId } = turn
  const paused: NewTurnEvent = { type: 'turn-paused', turnId, at, waitingFor }
  const isOpen = turn.steps.at(-1)?.status === 'open'
  return isOpen
    ? [{ type: 'step-ended', turnId, at, finishReason: 'tool-calls' }, paused]
    : [paused]
}
