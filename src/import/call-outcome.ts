import type { CallFailure, CallOutcome } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Validated } from '../views/call-status.ts'
import { partialResultKey } from '../views/result-value.ts'
import {
  errorTextOf,
  formerErrorTexts,
  supersedings,
  interruptionCauses,
  type UnsuccessfulCall,
} from '../views/call-error-text.ts'
import { fieldOf, flagOf, readFlag, textOf, valueOf } from './old-fields.ts'
import type { ReportMend, OldCall } from './old-message.ts'

/** The outcome of a call, or that it has none, and the other fields that were read with it. */
export type ReadOutcome = Pick<
  OldCall,
  'outcome' | 'wasSkipped' | 'startedAt' | 'decision' | 'partial'
>

/** The fields of a call beside its result. */
export interface CallMarks {
  readonly validated?: Validated
  readonly isComplete?: boolean
  /** Stated by the data, whatever the result looks like: the result of a success may be `{error: …}`. */
  readonly isError?: boolean
}

/** The result in the data; `undefined` where there is none. Any value is a result (LG9). */
export type Given = { readonly value: Json } | undefined

type Approval = 'free' | 'pending' | 'rejected'
type Content = 'none' | 'empty' | 'value' | 'error'
type OutcomeVerdict =
  | 'open'
  | 'waiting'
  | 'denied'
  | 'succeeded'
  | 'failed'
  | 'stopped'
  | 'interrupted'

/**
 * The outcome of an old call, by its approval, by whether its result is marked as complete, and by the
 * content of its result. `free`: the call was accepted, needed no approval, or the data does not contain one.
 * `cut`: `isComplete` is false. This table is the only place that decides it.
 */
const outcomeTable: Readonly<
  Record<Approval, Readonly<Record<'whole' | 'cut', Readonly<Record<Content, OutcomeVerdict>>>>>
> = {
  free: {
    whole: { none: 'open', empty: 'succeeded', value: 'succeeded', error: 'failed' },
    cut: { none: 'open', empty: 'interrupted', value: 'stopped', error: 'interrupted' },
  },
  // A call with a result has run, even if its approval was left as pending.
  pending: {
    whole: { none: 'waiting', empty: 'waiting', value: 'succeeded', error: 'failed' },
    cut: { none: 'waiting', empty: 'waiting', value: 'stopped', error: 'interrupted' },
  },
  // A rejected call did not run: a text in place of its result is the feedback.
  rejected: {
    whole: { none: 'denied', empty: 'denied', value: 'denied', error: 'denied' },
    cut: { none: 'denied', empty: 'denied', value: 'denied', error: 'denied' },
  },
}

/** The outcome of a call according to the table, with its result. The inverse of `projectResultValue`. */
export function judgeCall(
  name: string,
  given: Given,
  marks: CallMarks,
  at: number,
  mend: ReportMend,
): ReadOutcome {
  const value = given?.value
  const error = given === undefined ? undefined : errorOf(value)
  const known = error === undefined ? undefined : readErrorText(error.text, at)
  const decided: Pick<OldCall, 'decision'> =
    marks.validated === 'accepted' ? { decision: { kind: 'accepted' } } : {}
  const verdict =
    outcomeTable[approvalOf(marks)][marks.isComplete === false ? 'cut' : 'whole'][
      contentOf(given, marks)
    ]
  if (marks.validated === 'pending' && verdict !== 'waiting') {
    mend(`The call of ${name} is said to wait for a decision, but it has a result: it has run.`)
  }
  switch (verdict) {
    case 'open':
    case 'waiting':
      return { outcome: verdict, ...decided }
    case 'denied':
      if (known?.outcome !== undefined && isEnd(known, 'denied')) return known
      if (error === undefined && typeof value === 'object' && value !== null) {
        mend(`The call of ${name} was refused: what stood as its result is kept as the reason.`)
      }
      return denied(feedbackOf(error?.text ?? value))
    case 'succeeded':
      return { ...succeeded(value ?? null), ...decided }
    case 'failed':
      return { outcome: failureOf(error?.text, value), ...decided }
    case 'stopped':
      mend(`The call of ${name} is marked as not complete: it is stopped, and ${isKept}`)
      return { ...stopped, startedAt: at, partial: value as Json, ...decided }
    case 'interrupted': {
      if (known !== undefined && !isEnd(known, 'denied')) {
        return withDefined({ ...known, ...decided }, { partial: error?.partial })
      }
      const kept = error === undefined ? '.' : `, and ${isKept}`
      mend(`The call of ${name} is marked as not complete: it is interrupted${kept}`)
      return withDefined({ ...interrupted, ...decided }, { partial: error && (value as Json) })
    }
  }
}

const isKept = 'what it had given is kept beside it.'

function approvalOf({ validated }: CallMarks): Approval {
  return validated === 'rejected' || validated === 'pending' ? validated : 'free'
}

function contentOf(given: Given, { isError }: CallMarks): Content {
  if (given === undefined) return 'none'
  if (isError ?? errorOf(given.value) !== undefined) return 'error'
  return given.value === null || given.value === '' ? 'empty' : 'value'
}

const isEnd = ({ outcome }: ReadOutcome, state: CallOutcome['state']): boolean =>
  typeof outcome === 'object' && outcome.state === state

export const succeeded = (value: Json): ReadOutcome => ({
  outcome: { state: 'succeeded', output: { kind: 'inline', value } },
})
const stopped: ReadOutcome = { outcome: { state: 'stopped', cause: 'stopped' } }
const interrupted: ReadOutcome = { outcome: { state: 'interrupted', cause: 'crashed' } }

/** Denied by a person, with or without a reason. */
export const denied = (feedback?: string): ReadOutcome => {
  const why = feedback === undefined ? {} : { feedback }
  return {
    outcome: { state: 'denied', cause: 'denied', ...why },
    decision: { kind: 'rejected', ...why },
  }
}

function feedbackOf(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The failure of a call: from its error, or else from its result. */
export const failureOf = (error: string | undefined, result: Json | undefined): CallOutcome => ({
  state: 'failed',
  cause: 'tool-error',
  error: error ?? readErrorValue(result) ?? '',
})

/** An error as text: the text itself, or the message of an object. */
function readErrorValue(value: Json | undefined): string | undefined {
  if (value === undefined || value === null || value === false || value === '') return undefined
  if (typeof value === 'string') return value
  return (
    (isJsonObject(value) ? textOf(value, 'message', 'error') : undefined) ?? JSON.stringify(value)
  )
}

/** An object with a text as `error` and nothing else but Holdfast's own mark; with other fields it is a result. */
function errorOf(
  value: Json | undefined,
): { readonly text: string; readonly partial?: Json } | undefined {
  if (!isJsonObject(value) || typeof value.error !== 'string') return undefined
  const { error: text, [partialResultKey]: partial, ...rest } = value
  return Object.keys(rest).length > 0 ? undefined : withDefined({ text }, { partial })
}

const validatedWords: ReadonlyMap<string, Validated> = new Map([
  ...['accepted', 'approved', 'confirmed'].map((word) => [word, 'accepted'] as const),
  ...['rejected', 'denied', 'declined', 'refused'].map((word) => [word, 'rejected'] as const),
  ...['pending', 'waiting', 'awaiting_approval'].map((word) => [word, 'pending'] as const),
  ...['not_required', 'notrequired', 'none'].map((word) => [word, 'not_required'] as const),
])

/** As a word, or as the boolean of older data. `null`: not decided. */
function readValidated(value: Json | undefined, mend: ReportMend): Validated | undefined {
  if (value === undefined || value === null || value === '') return undefined
  const flag = readFlag(value)
  if (flag !== undefined) return flag ? 'accepted' : 'rejected'
  const word = typeof value === 'string' ? toWord(value) : ''
  const known = validatedWords.get(word)
  if (known === undefined && word !== 'null') {
    mend(`What it says of "validated", ${JSON.stringify(value).slice(0, 80)}, is not known.`)
  }
  return known
}

/** Normalises `NOT_REQUIRED`, `not required` and `Validation.NOT_REQUIRED` to the same word. */
export function toWord(text: string): string {
  const word = text.trim().toLowerCase()
  return word.slice(word.lastIndexOf('.') + 1).replaceAll(/[\s-]+/g, '_')
}

/** The marks that a call, a row or an annotation has. */
export function readMarks(object: JsonObject, mend: ReportMend): CallMarks {
  return withDefined(
    {},
    {
      validated: readValidated(fieldOf(object, 'validated', 'validation', 'approved'), mend),
      isComplete: flagOf(object, 'isComplete', 'is_complete'),
      isError: flagOf(object, 'isError', 'is_error'),
    },
  )
}

type Status = 'succeeded' | 'failed' | 'denied' | 'stopped' | 'interrupted' | 'open' | 'waiting'

const statusWords: ReadonlyMap<string, Status> = new Map([
  ...['completed', 'complete', 'success', 'succeeded', 'done', 'finished', 'ok', 'result'].map(
    (word) => [word, 'succeeded'] as const,
  ),
  ...['output_available'].map((word) => [word, 'succeeded'] as const),
  ...['error', 'failed', 'failure', 'errored', 'output_error', 'timeout', 'timed_out'].map(
    (word) => [word, 'failed'] as const,
  ),
  ...['rejected', 'denied', 'declined', 'refused', 'output_denied'].map(
    (word) => [word, 'denied'] as const,
  ),
  ...['stopped', 'cancelled', 'canceled', 'aborted'].map((word) => [word, 'stopped'] as const),
  ...['interrupted', 'incomplete'].map((word) => [word, 'interrupted'] as const),
  ...['awaiting_approval', 'approval_requested'].map((word) => [word, 'waiting'] as const),
  ...['running', 'pending', 'in_progress', 'started', 'call', 'partial_call', 'executing'].map(
    (word) => [word, 'open'] as const,
  ),
  ...['input_available', 'input_streaming', 'calling'].map((word) => [word, 'open'] as const),
])

/** The status of a call, in the words and flags that apps have used. */
function readCallStatus(call: JsonObject): Status | undefined {
  const status = statusWords.get(toWord(textOf(call, 'status', 'state') ?? ''))
  if (status !== undefined) return status
  const success = flagOf(call, 'success')
  const isError = flagOf(call, 'isError', 'is_error')
  if (success === false || isError === true) return 'failed'
  return success === true || isError === false ? 'succeeded' : undefined
}

/** The outcome of a call with `status`, `error` and `result` beside the marks. */
export function readStatusOutcome(
  name: string,
  call: JsonObject,
  at: number,
  mend: ReportMend,
): ReadOutcome {
  const status = readCallStatus(call)
  const { validated, isComplete } = readMarks(call, mend)
  const error = readErrorValue(fieldOf(call, 'error'))
  const result = valueOf(call, 'result', 'output')
  const judge = (given: Json | undefined, marks: CallMarks) =>
    judgeCall(name, given === undefined ? undefined : { value: given }, marks, at, mend)
  const errorResult = error === undefined ? undefined : { error }
  if (status === 'denied' || validated === 'rejected') {
    return judge(errorResult ?? result, { validated: 'rejected' })
  }
  const accepted = validated === 'accepted' ? ({ validated } as const) : {}
  // An empty result field means nothing for a call that is not marked as ended.
  const given =
    result === null && status !== 'succeeded' && status !== undefined ? undefined : result
  if (status === 'stopped' || status === 'interrupted') {
    const kept = withDefined({}, { partial: given ?? errorResult })
    const { decision } = judge(undefined, accepted)
    return withDefined({ ...(status === 'stopped' ? stopped : interrupted), ...kept }, { decision })
  }
  const isFailure = status === 'failed' || (status !== 'succeeded' && error !== undefined)
  if (isComplete === false) return judge(given ?? errorResult ?? null, { ...accepted, isComplete })
  if (isFailure) {
    const failed = { error: error ?? readErrorValue(given) ?? '' }
    return judge(failed, { ...accepted, isError: true })
  }
  const isWaiting = status === 'waiting' || validated === 'pending'
  if (given === undefined && isWaiting) return judge(undefined, { validated: 'pending' })
  const value = given === undefined && status === 'succeeded' ? null : given
  return judge(value, { ...accepted, ...(status === 'succeeded' ? { isError: false } : {}) })
}

const failures: readonly CallFailure[] = ['tool-error', 'invalid-input', 'unknown-tool', 'timeout']

/** The outcome of a call of the chat view: by its `state` if Holdfast wrote it, or else by its `status`. */
export function readChatOutcome(
  name: string,
  call: JsonObject,
  at: number,
  mend: ReportMend,
): ReadOutcome {
  const error = readErrorValue(fieldOf(call, 'error'))
  const known = error === undefined ? undefined : readErrorText(error, at)
  const cause = textOf(call, 'cause')
  const { validated } = readMarks(call, () => {})
  const rest = withDefined(
    {},
    {
      decision: validated === 'accepted' ? ({ kind: 'accepted' } as const) : undefined,
      partial: valueOf(call, partialResultKey),
    },
  )
  const state = validated === 'rejected' ? undefined : textOf(call, 'state')
  switch (isOurCall(call) ? state : undefined) {
    case 'succeeded':
      return { ...succeeded(call.result ?? null), ...rest }
    case 'failed': {
      const why = failures.find((some) => some === cause) ?? 'tool-error'
      return { outcome: { state: 'failed', cause: why, error: error ?? '' }, ...rest }
    }
    case 'stopped':
      return { ...stopped, ...rest }
    case 'interrupted': {
      const why = interruptionCauses.find((some) => some === cause) ?? 'crashed'
      const outcome =
        known?.outcome.state === 'interrupted' && known.outcome.cause === why
          ? known.outcome
          : ({ state: 'interrupted', cause: why } as const)
      return { outcome, ...rest }
    }
    case 'unknown':
      return {
        ...(known !== undefined && isEnd(known, 'unknown')
          ? known
          : ({ outcome: { state: 'unknown', cause: 'crashed' } } as const)),
        ...rest,
      }
    default:
      return readStatusOutcome(name, call, at, mend)
  }
}

const ourStates: readonly unknown[] = [
  ...['streaming', 'awaiting-approval', 'ready', 'running', 'succeeded'],
  ...['failed', 'denied', 'stopped', 'interrupted', 'unknown'],
]

/** Whether `projectChatMessage` wrote it: no other app writes all of these fields. */
export const isOurCall = (call: JsonObject): boolean =>
  ourStates.includes(call.state) &&
  typeof call.validated === 'string' &&
  typeof call.step === 'number'

/**
 * The inverse of `errorTextOf`, for formats in which such a call has nothing but the text. `undefined` for
 * any other text.
 */
export function readErrorText(text: string, at: number): KnownEnd | undefined {
  const words = formerErrorTexts.get(text) ?? text
  const known = ends.find((end) => wordingOf(end) === words)
  if (known !== undefined) {
    const { startedAt, ...end } = known
    return startedAt === undefined ? end : { ...end, startedAt: at }
  }
  if (!text.startsWith(declinedBecause)) return undefined
  return denied(text.slice(declinedBecause.length)) as KnownEnd
}

type KnownEnd = Omit<ReadOutcome, 'outcome'> & { readonly outcome: CallOutcome }

const unstarted: readonly KnownEnd[] = [
  denied() as KnownEnd,
  { outcome: { state: 'denied', cause: 'superseded' } },
  ...supersedings.flatMap((supersededBy): readonly KnownEnd[] => [
    { outcome: { state: 'denied', cause: 'superseded', supersededBy } },
    { outcome: { state: 'interrupted', cause: 'superseded', supersededBy } },
  ]),
  { outcome: { state: 'interrupted', cause: 'superseded', supersededBy: 'import' } },
  { outcome: { state: 'stopped', cause: 'stopped' } },
  ...interruptionCauses.map((cause) => ({ outcome: { state: 'interrupted', cause } as const })),
  { outcome: { state: 'unknown', cause: 'crashed' } },
  { outcome: { state: 'unknown', cause: 'crashed' }, wasSkipped: true },
]
const ends = [...unstarted, ...unstarted.map((end) => ({ ...end, startedAt: 0 }))]

function wordingOf({ outcome, startedAt, wasSkipped }: KnownEnd): string {
  return errorTextOf({
    ...outcome,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(wasSkipped === true ? { resolution: { kind: 'skip', by: '', at: 0 } } : {}),
  } as UnsuccessfulCall)
}

const declinedBecause = wordingOf(denied('…') as KnownEnd).slice(0, -1)
