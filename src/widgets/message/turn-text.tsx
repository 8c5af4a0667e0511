import { memo, type ReactNode } from 'react'
import type { Step } from '../../core/message.ts'
import { isAnswerStep, stepTextOf } from '../../views/commentary.ts'
import { Markdown } from '../markdown/markdown.tsx'

/**
 * The text of one step in the position of the answer (CO2). While the step is open it is a draft; when the step ends
 * without calls the same element is the answer, with the same text. A draft that turns out to be commentary moves to
 * the widget.
 */
export const TurnText = memo(function TurnText({ step }: { readonly step: Step }): ReactNode {
  if (!showsText(step)) return null
  const role = isAnswerStep(step) ? 'answer' : 'draft'
  return (
    <div className={`hf-text hf-${role}`} data-role={role} data-step={step.index}>
      <Markdown text={stepTextOf(step)} isStreaming={step.status === 'open'} />
    </div>
  )
})

const showsText = (step: Step): boolean =>
  isAnswerStep(step) || (step.status === 'open' && stepTextOf(step).trim() !== '')
