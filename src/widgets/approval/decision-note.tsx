import type { ReactNode } from 'react'
import type { Call } from '../../core/call.ts'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'

/** Who decided: shown in place of the form, so that a second decider sees who was first (AP2). */
export function DecisionNote({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const { decision } = call
  if (decision === undefined || decision.automatic === true) return null
  return (
    <p className="hf-decision" data-decision={decision.kind}>
      <Icon name={decision.kind === 'accepted' ? 'check' : 'cross'} />
      <bdi>{strings.decidedBy(decision.by, decision.kind)}</bdi>
    </p>
  )
}
