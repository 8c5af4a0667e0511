import type { CallOutcome } from '../../core/call.ts'
import {
  errorTextOf,
  formerErrorTexts,
  interruptionCauses,
  type UnsuccessfulCall,
} from '../wording.ts'
import type { OldCall } from './old-message.ts'

/** How a call ended, and what else its text says of it. */
export type ReadOutcome = Pick<OldCall, 'wasSkipped' | 'startedAt' | 'decision'> & {
  readonly outcome: CallOutcome
}

/**
 * The way back from `errorTextOf`, for formats that say of such a call nothing but the text. Text of
 * another origin gives `undefined`.
 */
export function readErrorText(text: string, at: number): ReadOutcome | undefined {
  const words = formerErrorTexts.get(text) ?? text
  const known = ends.find((end) => wordingOf(end) === words)
  if (known !== undefined) {
    const { startedAt, ...end } = known
    return startedAt === undefined ? end : { ...end, startedAt: at }
  }
  if (!text.startsWith(declinedBecause)) return undefined
  const feedback = text.slice(declinedBecause.length)
  return denied(feedback)
}

/** A person said no, and perhaps why. */
export const denied = (feedback?: string): ReadOutcome => {
  const why = feedback === undefined ? {} : { feedback }
  return {
    outcome: { state: 'denied', cause: 'denied', ...why },
    decision: { kind: 'rejected', ...why },
  }
}

const unstarted: readonly ReadOutcome[] = [
  denied(),
  { outcome: { state: 'denied', cause: 'superseded' } },
  { outcome: { state: 'stopped', cause: 'stopped' } },
  ...interruptionCauses.map((cause) => ({ outcome: { state: 'interrupted', cause } as const })),
  { outcome: { state: 'unknown', cause: 'crashed' } },
  { outcome: { state: 'unknown', cause: 'crashed' }, wasSkipped: true },
]
const ends = [...unstarted, ...unstarted.map((end) => ({ ...end, startedAt: 0 }))]

function wordingOf({ outcome, startedAt, wasSkipped }: ReadOutcome): string {
  return errorTextOf({
    ...outcome,
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(wasSkipped === true ? { resolution: { kind: 'skip', by: '', at: 0 } } : {}),
  } as UnsuccessfulCall)
}

const declinedBecause = wordingOf(denied('…')).slice(0, -1)
