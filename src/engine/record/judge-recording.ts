import { type Call, isOpenCall } from '../../core/call.ts'
import type { CallId } from '../../core/ids.ts'
import {
  type AnswerLimit,
  callsOf,
  type Turn,
  type TurnEnding,
  type TurnError,
  type TurnWait,
} from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { StreamCutError } from '../model/model-error.ts'

/** How the stream of a host application's loop ended. */
export interface StreamEnd {
  /** The reason in its `finish`; null if it was closed without one. */
  readonly finishReason: string | null
  readonly isAborted: boolean
  /** The limit that ended the stream early. */
  readonly limit?: AnswerLimit
  /** An error that the stream reported or ended with. */
  readonly fault?: { readonly error: unknown }
}

export type RecordingVerdict =
  | { readonly kind: 'end'; readonly ending: TurnEnding }
  | { readonly kind: 'wait'; readonly waitingFor: TurnWait }

/**
 * Decides how a turn ends whose stream is over. With a `finish`, its reason decides. A stream that was closed without
 * one is judged by its content: an open text, a call without its result, or no content at all means that the stream was
 * cut off; anything else is a complete answer. Calls that wait for a person or the client make the turn wait.
 *
 * `decided`: the calls that were decided when the stream began. One that it leaves without a result waits for nobody: if
 * the turn waited for it, the loop would be told to go on at once, without end.
 */
export function judgeRecording(
  turn: Turn,
  end: StreamEnd,
  toTurnError: (error: unknown) => TurnError,
  decided: ReadonlySet<CallId>,
): RecordingVerdict {
  const failed = (error: unknown): RecordingVerdict => ({
    kind: 'end',
    ending: { kind: 'failed', error: toTurnError(error) },
  })
  if (end.fault !== undefined) return failed(end.fault.error)
  if (end.isAborted) return { kind: 'end', ending: { kind: 'stopped' } }
  const { finishReason } = end
  if (finishReason === 'interrupted') return failed(new StreamCutError('no end of the stream'))
  if (finishReason === 'error') return failed(new Error('It ended with an error.'))
  if (finishReason === 'length') {
    return { kind: 'end', ending: withDefined({ kind: 'cut-off' } as const, { limit: end.limit }) }
  }
  const calls = [...callsOf(turn)]
  if (calls.some(({ state }) => state === 'awaiting-approval')) {
    return { kind: 'wait', waitingFor: 'approval' }
  }
  const isHanging = calls.some((call) => isClients(call) && !decided.has(call.id))
  if (finishReason !== null) {
    // A model that stopped by itself waits for nothing.
    const waits = isHanging && finishReason !== 'stop'
    return waits ? { kind: 'wait', waitingFor: 'client' } : completed
  }
  const last = turn.steps.at(-1)
  if (last === undefined) return failed(new StreamCutError('nothing was said'))
  const isOpenText = last.parts.some(
    (part) => (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming',
  )
  if (isOpenText) return failed(new StreamCutError('no end of the text'))
  if (isHanging && last.status === 'ended') return { kind: 'wait', waitingFor: 'client' }
  if (calls.some(isOpenCall)) return failed(new StreamCutError('no result of a call'))
  return completed
}

/** A complete call without a result that this server does not run. */
export const isClients = (call: Call): boolean =>
  (call.state === 'ready' || call.state === 'running') && call.providerExecuted !== true

/** A call of these that a person has decided on: the host application's loop runs it. */
export const isDecided = (call: Call): boolean =>
  isClients(call) && (call.decision !== undefined || call.resolution !== undefined)

const completed: RecordingVerdict = { kind: 'end', ending: { kind: 'completed' } }
