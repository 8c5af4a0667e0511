import { memo, type ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { answerOf } from '../../views/commentary.ts'
import { useTexts } from '../texts-context.tsx'
import { InlineToolWidget } from '../tool-widget/inline-tool-widget.tsx'
import { TurnActions } from './turn-actions.tsx'
import { TurnCards } from './turn-cards.tsx'
import { TurnEndingNote } from './turn-ending.tsx'
import { TurnFolds } from './turn-folds.tsx'
import { TurnItems } from './turn-items.tsx'
import { TurnText } from './turn-text.tsx'

export interface TurnViewProps {
  readonly turn: Turn
  readonly isLast: boolean
}

/** One turn. It is drawn again only when a fact was added to it: the fold keeps every other object. */
export const TurnView = memo(function TurnView({ turn, isLast }: TurnViewProps): ReactNode {
  const texts = useTexts()
  const { progress, steps } = turn
  return (
    <article
      className="hf-turn"
      data-message-id={turn.id}
      data-status={progress.status}
      aria-label={texts.assistant}
      aria-busy={progress.status === 'running'}
    >
      {steps.map((step) => (
        <TurnFolds key={step.index} step={step} />
      ))}
      <InlineToolWidget turn={turn} />
      <TurnCards turn={turn} />
      {steps.map((step) => (
        <TurnText key={step.index} step={step} />
      ))}
      <TurnItems steps={steps} />
      {progress.status === 'ended' && (
        <>
          <TurnEndingNote messageId={turn.id} ending={progress.ending} isLast={isLast} />
          <TurnActions messageId={turn.id} answer={answerOf(turn)} isLast={isLast} />
        </>
      )}
    </article>
  )
})
