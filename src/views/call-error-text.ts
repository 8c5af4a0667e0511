import { assertNever } from '../core/assert-never.ts'
import type { Call, CallFailure, CallInterruption, EndedCall, Superseding } from '../core/call.ts'

/** A call that ended without a result. */
export type UnsuccessfulCall = Exclude<EndedCall, { readonly state: 'succeeded' }>

/**
 * The sentence for people about a call that did not succeed. Together with `modelTextOf` these are all the
 * sentences about calls, and each is true wherever its state and cause occur (ST3a): none names a cause that
 * the call does not have.
 */
export function errorTextOf(call: UnsuccessfulCall): string {
  switch (call.state) {
    case 'failed':
      return hasReason(call.error) ? call.error : (silentFailures[call.cause] ?? silentFailure)
    case 'denied':
      if (call.cause === 'superseded') {
        const { people } = supersessions[call.supersededBy ?? 'message']
        return hasStarted(call) ? `Ended: ${people}.` : `Not run: ${people} first.`
      }
      return hasReason(call.feedback) ? `Declined: ${call.feedback}` : 'Declined.'
    case 'stopped':
      return hasStarted(call) ? 'Stopped while it was running.' : 'Stopped before it ran.'
    case 'interrupted': {
      const { people, prefix } = interruptionOf(call)
      return `${prefix ?? (hasStarted(call) ? 'Broken off' : 'Not run')}: ${people}.`
    }
    case 'unknown':
      return call.resolution?.kind === 'skip'
        ? 'The outcome is unknown, and it was skipped.'
        : 'The outcome is unknown: it was running when the work was broken off.'
    default:
      return assertNever(call)
  }
}

/** The sentence for the model about a call without a result: what is true, and no more. */
export function modelTextOf(call: Exclude<Call, { readonly state: 'succeeded' }>): string {
  switch (call.state) {
    case 'failed':
      return errorTextOf(call.modelError === undefined ? call : { ...call, error: call.modelError })
    case 'denied':
      return `${denialOf(call)}${hasReason(call.feedback) ? ` ${reasonOf(call)} ${call.feedback}` : ''}`
    case 'stopped':
      return `The user stopped this call. ${effectOf(call)}`
    case 'interrupted':
      if (call.cause === 'no-result') return `No result of this call came. ${mayHaveRun}`
      return `This call was broken off: ${interruptionOf(call).model}. ${effectOf(call)}`
    case 'unknown': {
      const skipped =
        call.resolution?.kind === 'skip' ? ' The user chose to go on all the same.' : ''
      return `This call was running when the work was broken off, so its outcome is unknown. ${mayHaveRun}${skipped} ${unlessAsked}`
    }
    case 'streaming':
      return `This call was cut off before its arguments were complete. ${didNotRun}`
    case 'awaiting-approval':
      return 'This call waits for the approval of the user. It has not run yet.'
    case 'ready':
      return 'This call has not run yet, so it has no result.'
    case 'running':
      return `This call has no result yet. ${mayHaveRun}`
    default:
      return assertNever(call)
  }
}

type DeniedCall = Extract<EndedCall, { readonly state: 'denied' }>

function denialOf(call: DeniedCall): string {
  const effect = effectOf(call)
  if (call.cause === 'superseded') {
    const { model } = supersessions[call.supersededBy ?? 'message']
    const before =
      call.approval === 'required'
        ? 'instead of approving this call'
        : 'before this call had a result'
    return `${capitalized(model)} ${before}. ${effect} ${unlessAsked}`
  }
  return call.decision?.automatic === true
    ? `A rule of this application does not allow this call; the user was not asked. ${effect} Do not try it again.`
    : `The user declined this call. ${effect} ${unlessAsked}`
}

const reasonOf = (call: DeniedCall): string =>
  call.decision?.automatic === true ? 'The reason:' : 'The user said:'

const unlessAsked = 'Do not try it again unless the user asks for it.'
const didNotRun = 'It did not run and had no effect.'
const mayHaveRun = 'It may or may not have taken effect: do not assume either.'

const hasStarted = (call: Call): boolean => call.startedAt !== undefined
/** The start of a provider-executed call is not recorded, so it may have started. */
const mayHaveStarted = (call: Call): boolean => hasStarted(call) || call.providerExecuted === true

/**
 * A call of a client-side tool starts without an event, too, and is the only kind that can be open when a new
 * message supersedes the turn.
 */
const effectOf = (call: Call): string => {
  const isClients =
    call.state === 'interrupted' && call.cause === 'superseded' && call.supersededBy !== 'import'
  return mayHaveStarted(call) || isClients ? mayHaveRun : didNotRun
}

const silentFailure = 'The tool failed and gave no reason.'
const silentFailures: Readonly<Record<CallFailure, string>> = {
  'tool-error': silentFailure,
  'invalid-input': 'The arguments did not fit the tool.',
  'unknown-tool': 'There is no such tool.',
  timeout: 'The tool took too long.',
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** What superseded a turn, in the words for people and for the model. */
const supersessions: Readonly<
  Record<Superseding | 'message', { readonly people: string; readonly model: string }>
> = {
  message: { people: 'you wrote again', model: 'the user wrote a new message' },
  regenerate: {
    people: 'the answer was made anew',
    model: 'the user had the answer made anew',
  },
  show: {
    people: 'another version was shown',
    model: 'the user went to another version of the conversation',
  },
  import: {
    people: 'it was imported before anybody decided',
    model: 'the conversation was imported before anybody decided',
  },
}

/** All but a person's message that can supersede a turn here. */
export const supersedings = ['regenerate', 'show'] as const satisfies readonly Superseding[]

function interruptionOf(call: Extract<EndedCall, { readonly state: 'interrupted' }>): Interruption {
  const { supersededBy = 'message' } = call
  // A call that waits for approval has not started.
  const prefix = supersededBy === 'import' ? 'Not run' : 'No result'
  return call.cause === 'superseded'
    ? { ...supersessions[supersededBy], prefix }
    : interruptions[call.cause]
}

interface Interruption {
  readonly people: string
  readonly model: string
  /** Precedes the text for people, where it does not matter whether the call started. */
  readonly prefix?: string
}

const interruptions: Readonly<Record<CallInterruption, Interruption>> = {
  'stream-failed': {
    people: 'the answer broke off with an error',
    model: 'the answer ended with an error',
  },
  crashed: { people: 'the server stopped', model: 'the server stopped' },
  'over-limit': {
    people: 'the answer reached its limit',
    model: 'the answer reached its length or step limit',
  },
  superseded: { ...supersessions.message, prefix: 'No result' },
  'no-result': { people: 'none came', model: 'no result of it came', prefix: 'No result' },
}

export const interruptionCauses = Object.keys(interruptions) as readonly CallInterruption[]

/** Sentences of earlier versions, as their exports contain them, mapped to those of today. */
export const formerErrorTexts: ReadonlyMap<string, string> = new Map([
  [
    'The outcome is unknown: the server stopped while it was running.',
    'The outcome is unknown: it was running when the work was broken off.',
  ],
  ['Not run: you wrote again.', 'No result: you wrote again.'],
  ['Broken off: you wrote again.', 'No result: you wrote again.'],
])

/**
 * Older versions and foreign data contain what `String` makes of an object, which is no reason. Trimmed first: an expression
 * with white space at both ends takes quadratic time on a text of white space (OP7).
 */
const hasReason = (text: unknown): text is string =>
  typeof text === 'string' && !/^(?:\[object \w+\]|undefined|null|)$/.test(text.trim())
