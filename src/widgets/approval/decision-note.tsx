import { type ReactNode, useContext, useSyncExternalStore } from 'react'
import type { Call } from '../../core/call.ts'
import { ClientsContext } from '../../react/holdfast-provider.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'

/** Who decided: shown in place of the form, so that a second decider sees who was first (AP2). */
export function DecisionNote({ call }: { readonly call: Call }): ReactNode {
  const strings = useStrings()
  const person = usePerson()
  const { decision } = call
  if (decision === undefined || decision.automatic === true) return null
  return (
    <p className="hf-decision" data-decision={decision.kind}>
      <Icon name={decision.kind === 'accepted' ? 'check' : 'cross'} />
      <bdi>
        {decision.by === person
          ? strings.decidedByYou(decision.kind)
          : strings.decidedBy(decision.by, decision.kind)}
      </bdi>
    </p>
  )
}

const never = () => () => undefined

/** The id of the reader; null until the server has sent it, and on a page without a client. */
function usePerson(): string | null {
  const agent = useContext(ClientsContext)?.agent
  const read = () => agent?.getSnapshot().person ?? null
  return useSyncExternalStore(agent?.subscribe ?? never, read, read)
}
