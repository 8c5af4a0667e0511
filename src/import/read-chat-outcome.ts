import type { CallFailure } from '../core/call.ts'
import type { JsonObject } from '../core/json.ts'
import { interruptionCauses } from '../views/wording.ts'
import { fieldOf, textOf } from './old-fields.ts'
import type { OldCall } from './old-message.ts'
import { readErrorText } from './read-error-text.ts'
import { readResultValue, readValidated } from './read-result-value.ts'
import { failureOf, readErrorValue, readCallStatus } from './read-call-status.ts'

type Outcome = Pick<OldCall, 'outcome' | 'decision' | 'wasSkipped' | 'startedAt'>

/** What became of a call of the chat view: by its `state` where we wrote it, else by its `status`. */
export function readChatOutcome(call: JsonObject, at: number): Outcome {
  const validated = readValidated(call.validated)
  const decided = validated === 'accepted' ? ({ decision: { kind: 'accepted' } } as const) : {}
  const error = readErrorValue(fieldOf(call, 'error'))
  const known = error === undefined ? undefined : readErrorText(error, at)
  const cause = textOf(call, 'cause')
  switch (textOf(call, 'state')) {
    case 'succeeded':
      return succeed(call, decided)
    case 'failed':
      return {
        outcome: {
          state: 'failed',
          cause: failures.find((some) => some === cause) ?? 'tool-error',
          error: error ?? '',
        },
        ...decided,
      }
    case 'denied':
      return readResultValue(error === undefined ? null : { error }, { validated: 'rejected' }, at)
    case 'stopped':
      return { outcome: { state: 'stopped', cause: 'stopped' }, ...decided }
    case 'interrupted':
      return {
        outcome: {
          state: 'interrupted',
          cause: interruptionCauses.find((some) => some === cause) ?? 'crashed',
        },
        ...decided,
      }
    case 'unknown':
      return {
        ...(known?.outcome.state === 'unknown'
          ? known
          : { outcome: { state: 'unknown', cause: 'crashed' } }),
        ...decided,
      }
    case 'awaiting-approval':
      return { outcome: 'waiting' }
    default:
      return readStatus(call, error, decided)
  }
}

const failures: readonly CallFailure[] = ['tool-error', 'invalid-input', 'unknown-tool', 'timeout']

function readStatus(
  call: JsonObject,
  error: string | undefined,
  decided: Pick<OldCall, 'decision'>,
): Outcome {
  const status = readCallStatus(call)
  if (status === 'failed' || (status !== 'succeeded' && error !== undefined)) {
    return { outcome: failureOf(error, call.result), ...decided }
  }
  // A result is the end of a call, whatever its status was left at.
  const hasResult = fieldOf(call, 'result') !== undefined
  return status === 'succeeded' || hasResult || (status === undefined && 'result' in call)
    ? succeed(call, decided)
    : { outcome: 'open', ...decided }
}

const succeed = (call: JsonObject, decided: Pick<OldCall, 'decision'>): Outcome => ({
  outcome: { state: 'succeeded', output: { kind: 'inline', value: call.result ?? null } },
  ...decided,
})
