import { AISDKError, JSONParseError, NoSuchToolError, ToolCallRepairError } from 'ai'
import { callObserver } from '../../core/call-observer.ts'
import type { CallOutcome } from '../../core/call.ts'
import { errorTextOfThrown, toReadableThrown } from '../../core/error-text.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { CallId } from '../../core/ids.ts'
import type { TurnError } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { TurnPlace } from '../call-scope.ts'
import { toModelFault } from '../model/model-error.ts'
import { WordedError } from '../worded-error.ts'

/** Where a function of the host application, a provider or a file store failed. */
export interface FailurePlace extends TurnPlace {
  readonly source: 'tool' | 'policy' | 'model' | 'agent' | 'title' | 'files' | 'observer'
  /** The call, where it was a tool or its policy. */
  readonly callId?: CallId
  /** The tool's name, or that of the observer (`hooks.inside`, `telemetry.executeTool`, `onEnd` …). */
  readonly name?: string
  /** The kind of failure, where it was a model (`rate-limited`, `network`, `model-error` …) or the agent (`agent-failed`). */
  readonly code?: string
  /** The id that appears in the neutral text for clients and in the log. */
  readonly errorId: string
  /** The reason as text, as far as it can be read. For a tool it is what the model receives. */
  readonly message: string
  /** A sentence for clients that does not reveal the reason. */
  readonly sentence: string
}

/**
 * Returns what clients read about a failure. `where.message` is the reason, which may contain what is not meant for
 * them; a function that returns it shows everything. If the function throws, or returns no text, the neutral
 * sentence is used.
 */
export type ErrorText = (error: unknown, where: FailurePlace) => string

type Failed = Extract<CallOutcome, { readonly state: 'failed' }>

/**
 * The error texts that are stored for the failures of one run: one for people, and a separate one for the model
 * (HT6).
 */
export interface FailureTexts {
  ofTool(call: FailedCall, error: unknown): Failed
  ofPolicy(call: FailedCall, error: unknown): Failed
  /**
   * A call that the SDK found invalid. The findings of a schema are stored unchanged; what the host application's
   * code threw is not.
   */
  ofInvalid(call: FailedCall, error: unknown): Failed
  /** A schema threw while it checked what a person sent for this call. Returns the error text for the sender. */
  ofCheck(call: FailedCall, error: unknown): string
  ofModel(error: unknown, step: number): TurnError
  /** A file store failed at a file of a result, which is kept without it: it is only reported. */
  readonly ofFiles: (error: unknown) => void
  /** Code of the host application that only observes the run threw: it is only reported. */
  readonly ofObserver: ReportFault
  /** `thrown`: what the host application's `agent` function threw, or the error about what it returned. */
  ofAgent(thrown: unknown): TurnError
}

/** Reports what a function of the host application threw that only observes, by its name. */
export type ReportFault = (name: string, thrown: unknown) => void

interface FailedCall {
  readonly id: CallId
  readonly name: string
}

export function createFailureTexts(
  place: TurnPlace,
  errorText: ErrorText | undefined,
  onFailed: (where: FailurePlace, error: unknown) => void,
): FailureTexts {
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
      const reason = errorTextOfThrown(error) || 'it gave no reason'
      return ofCall('policy', call, error, sentence, `${sentence.slice(0, -1)}: ${reason}`)
    },
    ofInvalid(call, thrown) {
      const error = toReadableThrown(thrown)
      const text = errorTextOfThrown(error)
      if (NoSuchToolError.isInstance(error)) {
        return { state: 'failed', cause: 'unknown-tool', error: text }
      }
      if (isFinding(error)) return { state: 'failed', cause: 'invalid-input', error: text }
      const sentence = 'The arguments could not be validated.'
      return { ...ofCall('tool', call, error, sentence, text), cause: 'invalid-input' }
    },
    ofCheck(call, thrown) {
      const message = errorTextOfThrown(thrown) || 'it gave no reason'
      return wordCall('tool', call, thrown, 'They could not be validated.', message)
    },
    ofModel(thrown, step) {
      const error = toReadableThrown(thrown)
      const errorId = `${shortId(place.turnId)}.${step}`
      if (error instanceof HoldfastError) {
        const { code, message: sentence, cause } = error
        // Clients read the message; the cause, such as an internal address, is for the log only (HT6). A wrong option is
        // the host's mistake, and its log is where a host looks.
        if (cause !== undefined || code === 'bad-option') {
          const reason = cause === undefined ? '' : ` (${errorTextOfThrown(cause)})`
          const message = `${sentence}${reason}`
          onFailed({ source: 'model', ...place, code, errorId, message, sentence }, error)
        }
        return { code, message: sentence }
      }
      const { code, message, sentence } = toModelFault(error)
      if (error instanceof WordedError) return { code, message }
      const where = { source: 'model', ...place, code, errorId, message, sentence } as const
      return { code, message: word(where, error) }
    },
    ofFiles(thrown) {
      const errorId = shortId(place.turnId)
      const sentence = 'A file could not be stored.'
      const message = errorTextOfThrown(thrown) || 'it gave no reason'
      onFailed({ source: 'files', ...place, errorId, message, sentence }, thrown)
    },
    ofObserver(name, thrown) {
      const errorId = shortId(place.turnId)
      const sentence = 'What observes this answer failed.'
      const message = errorTextOfThrown(thrown) || 'it gave no reason'
      const where = { source: 'observer', ...place, name, errorId, message, sentence } as const
      onFailed(where, toReadableThrown(thrown))
    },
    ofAgent(thrown) {
      const code = 'agent-failed'
      const errorId = shortId(place.turnId)
      const sentence = 'This answer could not be prepared.'
      const message = errorTextOfThrown(thrown) || 'it gave no reason'
      const where = { source: 'agent', ...place, code, errorId, message, sentence } as const
      return { code, message: word(where, thrown) }
    },
  }
}

/** Whether the error describes what is wrong with the arguments, and not a fault of the code that checked them. */
function isFinding(error: unknown): boolean {
  if (error instanceof WordedError) return true
  // A text is what a recorded loop has worded for its client. Anything else was thrown by the host's code.
  if (!AISDKError.isInstance(error)) return typeof error === 'string'
  if (ToolCallRepairError.isInstance(error)) return false
  try {
    for (let cause: unknown = error; cause !== undefined && cause !== null;) {
      if (Array.isArray(cause) || JSONParseError.isInstance(cause)) return true
      const { issues, cause: next } = cause as {
        readonly issues?: unknown
        readonly cause?: unknown
      }
      if (Array.isArray(issues)) return true
      // Without a cause it is the SDK's own message.
      if (next === undefined) return cause === error
      cause = next
    }
  } catch {
    // A schema may throw any value, also one whose properties cannot be read.
  }
  return false
}

function callErrorText(
  errorText: ErrorText | undefined,
  error: unknown,
  where: FailurePlace,
): string | undefined {
  let text: unknown
  // What it throws, or a promise, is no text: the neutral sentence is used instead, which reveals nothing.
  callObserver(
    () => (text = errorText?.(error, where)),
    () => {},
  )
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}

/** Long enough to find it in a log, and short enough to be read out. */
export const shortId = (id: string): string => id.slice(-8).toWellFormed()
