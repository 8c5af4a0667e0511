import { expect, test } from 'vitest'
import type { TurnEnding } from '../core/message.ts'
import { endingNoteOf, isBetterRegenerated } from './ending-note.ts'

const endings: readonly (readonly [TurnEnding, string | null, boolean])[] = [
  [{ kind: 'completed' }, null, false],
  [{ kind: 'superseded' }, null, false],
  [{ kind: 'stopped' }, 'Stopped.', true],
  [{ kind: 'cut-off' }, 'The answer reached its length limit and was cut off.', true],
  [{ kind: 'step-limit' }, 'The answer reached its step limit.', true],
  [{ kind: 'no-answer' }, 'The model gave no answer.', true],
  [{ kind: 'interrupted' }, 'The answer was broken off before it was complete.', true],
  [{ kind: 'failed', error: { code: 'x', message: 'Overloaded.' } }, 'Overloaded.', true],
  [{ kind: 'failed', error: { code: 'agent-failed', message: 'No.' } }, 'No.', true],
  [{ kind: 'failed', error: { code: 'crash-loop', message: 'Again.' } }, 'Again.', true],
]

test.each(endings)(
  '[ST6 AG1 AG7] a turn that ended as %o has its note',
  (ending, message, canContinue) => {
    expect(endingNoteOf(ending)).toEqual(message === null ? null : { message, canContinue })
  },
)

test.each([
  [{ kind: 'stopped' }, true],
  [{ kind: 'cut-off' }, false],
  [{ kind: 'failed', error: { code: 'x', message: 'Overloaded.' } }, true],
  // Regenerating the turn would repeat what it has already done.
  [{ kind: 'failed', error: { code: 'agent-failed', message: 'No.' } }, false],
  [{ kind: 'failed', error: { code: 'crash-loop', message: 'Again.' } }, false],
] as const)(
  '[ST6 AG7] a turn that ended as %o is offered to be made anew: %s',
  (ending, isOffered) => {
    expect(isBetterRegenerated(ending)).toBe(isOffered)
  },
)
