import type { ReactNode } from 'react'
import { Icon } from '../icon.tsx'
import { titleOf } from '../tool-widget/turn-summary.ts'
import type { CardEntry, CardProps } from './card-registry.tsx'
import { ValueView } from './value-view.tsx'

/** For a tool that has no card of its own (CD2). */
function GenericCard({ call, output }: CardProps): ReactNode {
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
