import { Fragment, type ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { InlineToolWidget } from '../tool-widget/inline-tool-widget.tsx'
import { TurnCards } from './turn-cards.tsx'
import { TurnFolds } from './turn-folds.tsx'
import { TurnItems } from './turn-items.tsx'
import { TurnSteering } from './turn-steering.tsx'
import { stretchesOf } from './turn-stretches.ts'
import { TurnText } from './turn-text.tsx'

/** The props of `<TurnBody>`. */
export interface TurnBodyProps {
  /** The turn; `useChatTurn` creates one from a message of `useChat`. */
  readonly turn: Turn
  /** Nothing follows the turn. Only then can a call with an unknown outcome still be resolved. */
  readonly isLast: boolean
}

/**
 * The content of a turn: tool widget, cards, text, sources. It needs no `<Thread>` around it, so a host application
 * with messages of its own can render it.
 */
export function TurnBody({ turn, isLast }: TurnBodyProps): ReactNode {
  return (
    <>
      {stretchesOf(turn).map((stretch, index) => (
        <Stretch key={index} turn={stretch} isLast={isLast} />
      ))}
      <TurnItems steps={turn.steps} />
    </>
  )
}

function Stretch({ turn, isLast }: TurnBodyProps): ReactNode {
  const { steps } = turn
  return (
    <>
      {steps.map((step) => (
        <TurnFolds key={step.index} step={step} />
      ))}
      <InlineToolWidget turn={turn} />
      <TurnCards turn={turn} isLast={isLast} />
      {steps.map((step) => (
        <Fragment key={step.index}>
          <TurnText step={step} />
          <TurnSteering step={step} />
        </Fragment>
      ))}
    </>
  )
}
