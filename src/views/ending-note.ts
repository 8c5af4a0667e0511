import { assertNever } from '../core/assert-never.ts'
import type { AnswerLimit, TurnEnding } from '../core/message.ts'

/** What a person reads about a turn that did not end as it should, and whether it can go on. */
interface EndingNote {
  readonly message: string
  readonly canContinue: boolean
}

/** Null where there is nothing to say: of a superseded turn, the message after it says enough. */
export function endingNoteOf(ending: TurnEnding): EndingNote | null {
  switch (ending.kind) {
    case 'completed':
    case 'superseded':
      return null
    case 'stopped':
      return { message: 'Stopped.', canContinue: false }
    case 'cut-off':
      return { message: cutOffText(ending.limit), canContinue: true }
    case 'step-limit':
      return { message: 'The answer reached its step limit.', canContinue: true }
    case 'no-answer':
      return { message: 'The model gave no answer.', canContinue: true }
    case 'interrupted':
      return { message: 'The answer was broken off before it was complete.', canContinue: true }
    case 'failed':
      return {
        message: ending.error.message.trim() || 'The answer failed, and no reason was given.',
        canContinue: isOursToMend(ending.error.code),
      }
    default:
      return assertNever(ending)
  }
}

/**
 * What failed is the server's: its agent, or a process that died again and again. What the turn has done stands, and would be
 * done a second time if it were made anew (AG1, AG7).
 */
const isOursToMend = (code: string): boolean => code === 'agent-failed' || code === 'crash-loop'

function cutOffText(limit: AnswerLimit | undefined): string {
  if (limit === undefined) return 'The answer reached its length limit and was cut off.'
  return `The answer reached its limit of ${limit.most.toLocaleString('en-US')} ${things[limit.what]} and was cut off.`
}

const things: Readonly<Record<AnswerLimit['what'], string>> = {
  text: 'characters of text',
  arguments: 'characters of a call’s arguments',
  files: 'characters of files',
  calls: 'calls',
  parts: 'parts',
  turn: 'characters in all',
}
