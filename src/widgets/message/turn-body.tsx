import { Fragment, type ReactNode } from 'react'
import type { Turn } from '../../core/message.ts'
import { InlineToolWidget } from '../tool-widget/inline-tool-widget.tsx'
import { TurnCards } from './turn-cards.tsx'
import { TurnFolds } from './turn-folds.tsx'
import { TurnItems } from './turn-items.tsx'
import { TurnSteering } from './turn-steering.tsx'
import { TurnText } from './turn-text.tsx'

/** The props of `<TurnBody>`. */
export interface TurnBodyProps {
  /** What the assistant did; `useChatTurn` makes one of a message of `useChat`. */
  readonly turn: Turn
  /** Nothing has been said after it. Only then can somebody still say what became of an unknown call. */
  readonly isLast: boolean
}

/**
 * What a turn did and said: tool widget, cards, text, sources. It needs no `<Thread>` around it, so a host
 * with messages of its own can draw it.
 */
export function TurnBody({ turn, isLast }: TurnBodyProps): ReactNode {
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
      <TurnItems steps={steps} />
    </>
  )
}
