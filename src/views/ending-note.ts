import { assertNever } from '../core/assert-never.ts'
import { type AnswerLimit, canContinue, type TurnEnding } from '../core/message.ts'

/** The note for a person about a turn that did not complete, and whether it can be continued. */
interface EndingNote {
  readonly message: string
  readonly canContinue: boolean
}

/** Null where no note is needed: a superseded turn is explained by the message after it. */
export function endingNoteOf(ending: TurnEnding): EndingNote | null {
  const message = endingTextOf(ending)
  return message === null ? null : { message, canContinue: canContinue(ending) }
}

function endingTextOf(ending: TurnEnding): string | null {
  switch (ending.kind) {
    case 'completed':
    case 'superseded':
      return null
    case 'stopped':
      return 'Stopped.'
    case 'cut-off':
      return cutOffText(ending.limit)
    case 'step-limit':
      return 'The answer reached its step limit.'
    case 'no-answer':
      return 'The model gave no answer.'
    case 'interrupted':
      return 'The answer was broken off before it was complete.'
    case 'failed':
      return ending.error.message.trim() || 'The answer failed, and no reason was given.'
    default:
      return assertNever(ending)
  }
}

/**
 * Whether a person is offered to regenerate the answer rather than to continue it: it was stopped, or the model failed.
 * Where the server failed (its agent, or a process that died again and again) the calls of the turn have taken effect,
 * and a regenerated turn would run them a second time (AG1, AG7).
 */
export const isBetterRegenerated = (ending: TurnEnding): boolean =>
  ending.kind === 'stopped' || (ending.kind === 'failed' && !isServerFault(ending.error.code))

const isServerFault = (code: string): boolean => code === 'agent-failed' || code === 'crash-loop'

function cutOffText(limit: AnswerLimit | undefined): string {
  if (limit === undefined) return 'The answer reached its length limit and was cut off.'
  return `The answer reached its limit of ${limit.most.toLocaleString('en-US')} ${things[limit.what]} and was cut off.`
}

const things: Readonly<Record<AnswerLimit['what'], string>> = {
  text: 'characters of text',
  arguments: 'characters of arguments',
  files: 'characters of files',
  calls: 'calls',
  parts: 'parts',
  turn: 'characters in all',
}
