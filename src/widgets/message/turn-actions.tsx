import type { ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { ActionError } from '../action-error.tsx'
import { useCallActions } from '../call-actions.ts'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'
import { FeedbackButtons } from './feedback-buttons.tsx'
import { ForkButton } from './fork-button.tsx'
import { readEffects } from './lasting-effects.ts'

interface TurnActionsProps {
  readonly turn: Turn
  readonly answer: string
  readonly isLast: boolean
  /** Called with the tools whose effects remain although their calls are no longer visible (VR3). */
  readonly onEffects: (names: readonly string[]) => void
}

export function TurnActions(props: TurnActionsProps): ReactNode {
  const { turn, answer, isLast, onEffects } = props
  const { id: messageId } = turn
  const strings = useStrings()
  const { client, isReadOnly = false } = useCurrentThread()
  const actions = useCallActions()
  const { isBusy, error, run } = useAction()
  const regenerate = async () => {
    const effects = await readEffects(client, actions, messageId)
    await client.regenerate(messageId)
    onEffects(effects)
  }
  if (answer === '') return null
  return (
    <div className="hf-message-actions" data-last={isLast}>
      <CopyButton text={() => answer} label={strings.copy} />
      {isLast && !isReadOnly && (
        <button
          type="button"
          className="hf-quiet"
          title={strings.regenerate}
          aria-disabled={isBusy}
          onClick={() => run(regenerate)}
        >
          <Icon name="refresh" />
          <span className="hf-label">{strings.regenerate}</span>
        </button>
      )}
      <ForkButton messageId={messageId} />
      {!isReadOnly && <FeedbackButtons turn={turn} />}
      <ActionError error={error} />
    </div>
  )
}
