import { memo, type ReactNode } from 'react'
import type { Step } from '../../core/message.ts'
import { stepTextOf } from '../../views/commentary.ts'
import { isBrokenAttempt } from '../../views/shown-parts.ts'
import { Icon } from '../icon.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { useStrings } from '../strings-context.tsx'

/** The parts of a step besides its answer, collapsed: the model's reasoning, and attempts that broke off. */
export const TurnFolds = memo(function TurnFolds({ step }: { readonly step: Step }): ReactNode {
  const strings = useStrings()
  const reasoning = step.parts
    .flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))
    .join('\n\n')
  return (
    <>
      {reasoning.trim() !== '' && (
        <Fold label={strings.reasoning} kind="reasoning" text={reasoning} step={step} />
      )}
      {isBrokenAttempt(step) && stepTextOf(step).trim() !== '' && (
        <Fold label={strings.attempt} kind="attempt" text={stepTextOf(step)} step={step} />
      )}
    </>
  )
})

function Fold(props: {
  readonly label: string
  readonly kind: string
  readonly text: string
  readonly step: Step
}): ReactNode {
  return (
    <details className="hf-aside" data-role={props.kind}>
      <summary>
        <Icon name="chevron" />
        {props.label}
      </summary>
      <Markdown text={props.text} isStreaming={props.step.status === 'open'} />
    </details>
  )
}
