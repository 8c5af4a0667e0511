import { assertNever } from '../core/assert-never.ts'
import type { Call, CallFailure, CallInterruption, EndedCall } from '../core/call.ts'

export type UnsuccessfulCall = Exclude<EndedCall, { readonly state: 'succeeded' }>

/**
 * What a person reads about a call that did not succeed. With `modelTextOf` this is all that is ever said of one, and
 * each sentence holds wherever its state and cause are met (ST3a): none names a cause that the call does not have.
 */
export function errorTextOf(call: UnsuccessfulCall): string {
  switch (call.state) {
    case 'failed':
      return isSaying(call.error) ? call.error : (silentFailures[call.cause] ?? silentFailure)
    case 'denied':
      if (call.cause === 'superseded') {
        return hasStarted(call) ? 'Ended: you wrote again.' : 'Not run: you wrote again first.'
      }
      return isSaying(call.feedback) ? `Declined: ${call.feedback}` : 'Declined.'
    case 'stopped':
      return hasStarted(call) ? 'Stopped while it was running.' : 'Stopped before it ran.'
    case 'interrupted': {
      const { people, prefix } = interruptions[call.cause]
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

/** What the model is told of a call that has no result: what is true, and no more. */
export function modelTextOf(call: Exclude<Call, { readonly state: 'succeeded' }>): string {
  switch (call.state) {
    case 'failed':
      return errorTextOf(call.modelError === undefined ? call : { ...call, error: call.modelError })
    case 'denied':
      return `${denialOf(call)}${isSaying(call.feedback) ? ` ${reasonOf(call)} ${call.feedback}` : ''}`
    case 'stopped':
      return `The user stopped this call. ${effectOf(call)}`
    case 'interrupted':
      if (call.cause === 'no-result') return `No result of this call came. ${mayHaveRun}`
      return `This call was broken off: ${interruptions[call.cause].model}. ${effectOf(call)}`
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
    return call.approval === 'required'
      ? `The user wrote a new message instead of approving this call. ${effect} ${unlessAsked}`
      : `The user wrote a new message before this call had a result. ${effect} ${unlessAsked}`
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
/** Of a call that its provider runs nobody here sees when it starts. */
const mayHaveStarted = (call: Call): boolean => hasStarted(call) || call.providerExecuted === true

/** What the client runs starts without a word, too, and is all that can be open when somebody writes again. */
const effectOf = (call: Call): string => {
  const isClients = call.state === 'interrupted' && call.cause === 'superseded'
  return mayHaveStarted(call) || isClients ? mayHaveRun : didNotRun
}

const silentFailure = 'The tool failed and gave no reason.'
const silentFailures: Readonly<Record<CallFailure, string>> = {
  'tool-error': silentFailure,
  'invalid-input': 'The arguments did not fit the tool.',
  'unknown-tool': 'There is no such tool.',
  timeout: 'The tool took too long.',
}

interface Interruption {
  readonly people: string
  readonly model: string
  /** Before what people read, where whether it started is not the point. */
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
  superseded: {
    people: 'you wrote again',
    model: 'the user wrote a new message',
    prefix: 'No result',
  },
  'no-result': { people: 'none came', model: 'no result of it came', prefix: 'No result' },
}

export const interruptionCauses = Object.keys(interruptions) as readonly CallInterruption[]

/** What earlier versions said, and so what their exports hold, as it is said now. */
export const formerErrorTexts: ReadonlyMap<string, string> = new Map([
  [
    'The outcome is unknown: the server stopped while it was running.',
    'The outcome is unknown: it was running when the work was broken off.',
  ],
  ['Not run: you wrote again.', 'No result: you wrote again.'],
  ['Broken off: you wrote again.', 'No result: you wrote again.'],
])

/** Older versions, and other people's data, hold what `String` makes of an object: that is no reason. */
const isSaying = (text: string | undefined): text is string =>
  text !== undefined && !/^\s*(\[object \w+\]|undefined|null)?\s*$/.test(text)
