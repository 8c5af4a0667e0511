import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import { CodeBlock } from '../markdown/code-block.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import type { CardEntry, CardProps } from './card-registry.tsx'
import { codeOf } from './code-of.ts'
import { isFile, ValueView } from './value-view.tsx'

/** For a tool without a card of its own (CD2): code is shown as code, a file as a file, anything else collapsed. */
function GenericCard({ call, output }: CardProps): ReactNode {
  const found = codeOf(output)
  if (found !== undefined) {
    const { code, language, title = titleOf(call) } = found
    return (
      <div className="hf-artifact">
        <h3 dir="auto">{title}</h3>
        <CodeBlock code={code} language={language} />
      </div>
    )
  }
  if (isFile(output)) {
    return (
      <div className="hf-artifact">
        <h3 dir="auto">{titleOf(call)}</h3>
        <ValueView value={output} />
      </div>
    )
  }
  return (
    <details className="hf-generic">
      <summary>
        <Icon name="chevron" />
        {titleOf(call)}
      </summary>
      <ValueView value={output} />
    </details>
  )
}

export const genericCard: CardEntry = { component: GenericCard }
