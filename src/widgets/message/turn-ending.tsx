import type { ReactNode } from 'react'
import type { TurnEnding } from '../../core/message.ts'
import { isBetterRegenerated } from '../../views/ending-note.ts'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

interface TurnEndingNoteProps {
  readonly messageId: string
  readonly ending: TurnEnding
  readonly isLast: boolean
}

/** For a turn that did not complete: what happened, and what can be done about it. */
export function TurnEndingNote({ messageId, ending, isLast }: TurnEndingNoteProps): ReactNode {
  const strings = useStrings()
  const { client, isReadOnly = false } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  const text = strings.ending(ending)
  if (text === null) return null
  const isRegenerated = isBetterRegenerated(ending)
  return (
    <div
      className={`hf-note ${ending.kind === 'failed' ? 'hf-note-error' : ''}`}
      data-ending={ending.kind}
      aria-live={isLast ? 'polite' : undefined}
    >
      <Icon name={ending.kind === 'stopped' ? 'stop' : 'warning'} />
      <span dir="auto">{error ?? text}</span>
      {isLast && !isRegenerated && !isReadOnly && (
        <button
          type="button"
          className="hf-button hf-button-strong"
          aria-disabled={isBusy}
          onClick={() => run(() => client.continue())}
        >
          {strings.continue}
        </button>
      )}
      {isLast && isRegenerated && !isReadOnly && (
        <button
          type="button"
          className="hf-button"
          aria-disabled={isBusy}
          onClick={() => run(() => client.regenerate(messageId))}
        >
          <Icon name="refresh" />
          {strings.regenerate}
        </button>
      )}
    </div>
  )
}
