import { assertNever } from '../core/assert-never.ts'
import type { Call, CallInterruption, EndedCall } from '../core/call.ts'

export type UnsuccessfulCall = Exclude<EndedCall, { readonly state: 'succeeded' }>

/** What a person reads about a call that did not succeed. */
export function errorTextOf(call: UnsuccessfulCall): string {
  switch (call.state) {
    case 'failed':
      return hasText(call.error) ? call.error : 'The tool failed and gave no reason.'
    case 'denied':
      if (call.cause === 'superseded') {
        return hasStarted(call) ? 'Ended: you wrote again.' : 'Not run: you wrote again first.'
      }
      return hasText(call.feedback) ? `Declined: ${call.feedback}` : 'Declined.'
    case 'stopped':
      return hasStarted(call) ? 'Stopped while it was running.' : 'Stopped before it ran.'
    case 'interrupted':
      if (call.cause === 'no-result') return 'No result came.'
      return `${hasStarted(call) ? 'Broken off' : 'Not run'}: ${interruptions[call.cause].people}.`
    case 'unknown':
      return call.resolution?.kind === 'skip'
        ? 'The outcome is unknown, and it was skipped.'
        : 'The outcome is unknown: the server stopped while it was running.'
    default:
      return assertNever(call)
  }
}

/** What the model is told of a call that has no result: what is true, and no more. */
export function modelTextOf(call: Exclude<Call, { readonly state: 'succeeded' }>): string {
  switch (call.state) {
    case 'failed':
      return errorTextOf(call)
    case 'denied':
      if (call.cause === 'superseded') {
        return `The user wrote a new message instead of approving this call. ${effectOf(call)} ${unlessAsked}`
      }
      return hasText(call.feedback)
        ? `The user declined this call. ${effectOf(call)} ${unlessAsked} The user said: ${call.feedback}`
        : `The user declined this call. ${effectOf(call)} ${unlessAsked}`
    case 'stopped':
      return `The user stopped this call. ${effectOf(call)}`
    case 'interrupted':
      if (call.cause === 'no-result') return `No result of this call came. ${mayHaveRun}`
      return `This call was broken off: ${interruptions[call.cause].model}. ${effectOf(call)}`
    case 'unknown': {
      const skipped =
        call.resolution?.kind === 'skip' ? ' The user chose to go on all the same.' : ''
      return `The server stopped while this call was running, so its outcome is unknown. ${mayHaveRun}${skipped} ${unlessAsked}`
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

const unlessAsked = 'Do not try it again unless the user asks for it.'
const didNotRun = 'It did not run and had no effect.'
const mayHaveRun = 'It may or may not have taken effect: do not assume either.'

const hasStarted = (call: Call): boolean => call.startedAt !== undefined
const effectOf = (call: Call): string => (hasStarted(call) ? mayHaveRun : didNotRun)

const interruptions: Readonly<
  Record<CallInterruption, { readonly people: string; readonly model: string }>
> = {
  'stream-failed': {
    people: 'the answer broke off with an error',
    model: 'the answer ended with an error',
  },
  crashed: { people: 'the server stopped', model: 'the server stopped' },
  'over-limit': {
    people: 'the answer reached its limit',
    model: 'the answer reached its length or step limit',
  },
  'no-result': { people: 'no result came', model: 'no result came' },
  superseded: { people: 'you wrote again', model: 'the user wrote a new message' },
}

export const interruptionCauses = Object.keys(interruptions) as readonly CallInterruption[]

const hasText = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== ''
