import { JSONParseError, NoSuchToolError, ToolCallRepairError } from 'ai'
import type { CallOutcome } from '../core/call.ts'
import { errorTextOfThrown, toReadableThrown } from '../core/error-text.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId } from '../core/ids.ts'
import type { TurnError } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { TurnPlace } from './call-scope.ts'
import { toModelFault } from './model-error.ts'

/** Where the host's own code, or a provider, failed. */
export interface FailurePlace extends TurnPlace {
  readonly source: 'tool' | 'policy' | 'model' | 'agent' | 'title'
  /** The call, where it was a tool or its policy. */
  readonly callId?: CallId
  /** The tool's name. */
  readonly name?: string
  /** The kind of failure, where it was a model (`rate-limited`, `network`, `model-error` …) or the agent (`agent-failed`). */
  readonly code?: string
  /** In the neutral text that clients read, and in the log. */
  readonly errorId: string
  /** The reason, as far as it can be put into words. A tool's is what the model is told. */
  readonly message: string
  /** What can be said without the reason. */
  readonly sentence: string
}

/**
 * What clients read about a failure. `where.message` is the reason, which may hold what is not for them; a function
 * that gives it back shows everything. One that throws, or gives no text, is as good as none.
 */
export type ErrorText = (error: unknown, where: FailurePlace) => string

type Failed = Extract<CallOutcome, { readonly state: 'failed' }>

/** An error whose words were chosen for clients by whoever sent it, and are told as they are. */
export class WordedError extends Error {
  override readonly name = 'WordedError'
}

/** What is stored about the failures of one run: for people, and apart from that for the model (HT6). */
export interface FailureWords {
  ofTool(call: FailedCall, error: unknown): Failed
  ofPolicy(call: FailedCall, error: unknown): Failed
  /** A call that the SDK found invalid. What a schema found wrong is told as it is; what the host's code threw there is not. */
  ofInvalid(call: FailedCall, error: unknown): Failed
  /** A schema threw where it was to check what a person sent for this call. The words for whoever sent it. */
  ofCheck(call: FailedCall, error: unknown): string
  ofModel(error: unknown, step: number): TurnError
  /** `why`: what the host's `agent` threw, or what is wrong with what it gave. */
  ofAgent(why: unknown): TurnError
}

interface FailedCall {
  readonly id: CallId
  readonly name: string
}

export function createFailureWords(
  place: TurnPlace,
  errorText: ErrorText | undefined,
  onFailed: (where: FailurePlace, error: unknown) => void,
): FailureWords {
  const word = (where: FailurePlace, error: unknown): string => {
    onFailed(where, error)
    return callErrorText(errorText, error, where) ?? `${where.sentence} (error ${where.errorId})`
  }
  const wordCall = (
    source: 'tool' | 'policy',
    { id: callId, name }: FailedCall,
    error: unknown,
    sentence: string,
    message: string,
  ): string => {
    const errorId = shortId(callId)
    return word({ source, ...place, callId, name, errorId, message, sentence }, error)
  }
  const ofCall = (
    source: 'tool' | 'policy',
    call: FailedCall,
    error: unknown,
    sentence: string,
    message: string,
  ): Failed => {
    const text = wordCall(source, call, error, sentence, message)
    return withDefined({ state: 'failed', cause: 'tool-error', error: text } as const, {
      modelError: message === text ? undefined : message,
    })
  }
  return {
    ofTool: (call, thrown) =>
      ofCall('tool', call, toReadableThrown(thrown), 'The tool failed.', errorTextOfThrown(thrown)),
    ofPolicy(call, thrown) {
      const error = toReadableThrown(thrown)
      const sentence = 'The approval policy of this tool failed.'
      const why = errorTextOfThrown(error) || 'it gave no reason'
      return ofCall('policy', call, error, sentence, `${sentence.slice(0, -1)}: ${why}`)
    },
    ofInvalid(call, thrown) {
      const error = toReadableThrown(thrown)
      const text = errorTextOfThrown(error)
      if (NoSuchToolError.isInstance(error)) {
        return { state: 'failed', cause: 'unknown-tool', error: text }
      }
      if (isFinding(error)) return { state: 'failed', cause: 'invalid-input', error: text }
      const sentence = 'The arguments could not be checked.'
      return { ...ofCall('tool', call, error, sentence, text), cause: 'invalid-input' }
    },
    ofCheck(call, thrown) {
      const message = errorTextOfThrown(thrown) || 'it gave no reason'
      return wordCall('tool', call, thrown, 'They could not be checked.', message)
    },
    ofModel(thrown, step) {
      const error = toReadableThrown(thrown)
      if (error instanceof HoldfastError) return { code: error.code, message: error.message }
      const { code, message, sentence } = toModelFault(error)
      if (error instanceof WordedError) return { code, message }
      const errorId = `${shortId(place.turnId)}.${step}`
      const where = { source: 'model', ...place, code, errorId, message, sentence } as const
      return { code, message: word(where, error) }
    },
    ofAgent(why) {
      const code = 'agent-failed'
      const errorId = shortId(place.turnId)
      const sentence = 'What this answer needs could not be made ready.'
      const message = errorTextOfThrown(why) || 'it gave no reason'
      const where = { source: 'agent', ...place, code, errorId, message, sentence } as const
      return { code, message: word(where, why) }
    },
  }
}

/** Whether it says what is wrong with the arguments, and not what went wrong where they were looked at. */
function isFinding(error: unknown): boolean {
  if (ToolCallRepairError.isInstance(error)) return false
  try {
    for (let cause: unknown = error; cause !== undefined && cause !== null;) {
      if (Array.isArray(cause) || JSONParseError.isInstance(cause)) return true
      const { issues, cause: next } = cause as {
        readonly issues?: unknown
        readonly cause?: unknown
      }
      if (Array.isArray(issues)) return true
      // Without a cause: the SDK's own words, or a loop's that has worded it for its client.
      if (next === undefined) return cause === error
      cause = next
    }
  } catch {
    // What a schema throws may be anything, also something that cannot be looked at.
  }
  return false
}

function callErrorText(
  errorText: ErrorText | undefined,
  error: unknown,
  where: FailurePlace,
): string | undefined {
  try {
    const text: unknown = errorText?.(error, where)
    return typeof text === 'string' && text.trim() !== '' ? text : undefined
  } catch {
    // The neutral text says nothing that is wrong.
    return undefined
  }
}

/** Enough to find it in a log, and short enough to be read out. */
export const shortId = (id: string): string => id.slice(-8).toWellFormed()
