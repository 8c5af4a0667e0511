import { isJsonObject, type Json } from '../core/json.ts'
import type { Validated } from '../views/call-words.ts'
import { denied, readErrorText, type ReadOutcome } from './read-error-text.ts'

/** What formats without errors say of a call beside its result. */
export interface ResultMarks {
  readonly validated?: Validated
  readonly isComplete?: boolean
}

/** The way back from `projectResultValue`. `undefined`: the call is over and gave nothing. */
export function readResultValue(
  value: Json | undefined,
  { validated, isComplete }: ResultMarks,
  at: number,
): ReadOutcome {
  const error = errorOf(value)
  const known = error === undefined ? undefined : readErrorText(error, at)
  if (validated === 'rejected') {
    if (known?.outcome.state === 'denied') return known
    return denied(error ?? (typeof value === 'string' && value !== '' ? value : undefined))
  }
  const decided = validated === 'accepted' ? ({ decision: { kind: 'accepted' } } as const) : {}
  if (isComplete === false && (error !== undefined || value == null || value === '')) {
    return known === undefined || known.outcome.state === 'denied'
      ? { outcome: { state: 'interrupted', cause: 'crashed' }, ...decided }
      : { ...known, ...decided }
  }
  return error === undefined
    ? {
        outcome: { state: 'succeeded', output: { kind: 'inline', value: value ?? null } },
        ...decided,
      }
    : { outcome: { state: 'failed', cause: 'tool-error', error }, ...decided }
}

/** An object with a text as `error` and nothing else; with more in it, it is a result. */
function errorOf(value: Json | undefined): string | undefined {
  if (!isJsonObject(value) || Object.keys(value).length !== 1) return undefined
  return Object.hasOwn(value, 'error') && typeof value.error === 'string' ? value.error : undefined
}

const validatedWords: readonly string[] = ['accepted', 'rejected', 'pending', 'not_required']

export const readValidated = (value: Json | undefined): Validated | undefined =>
  typeof value === 'string' && validatedWords.includes(value) ? (value as Validated) : undefined
