import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

interface TurnActionsProps {
  readonly messageId: string
  readonly answer: string
  readonly isLast: boolean
}

export function TurnActions({ messageId, answer, isLast }: TurnActionsProps): ReactNode {
  const strings = useStrings()
  const { client } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  if (answer === '') return null
  return (
    <div className="hf-message-actions" data-last={isLast}>
      <CopyButton text={() => answer} label={strings.copy} />
      {isLast && (
        <button
          type="button"
          className="hf-quiet"
          disabled={isBusy}
          onClick={() => run(() => client.regenerate(messageId))}
        >
          <Icon name="refresh" />
          {strings.regenerate}
        </button>
      )}
      <ActionError error={error} />
    </div>
  )
}
