import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import type { Call } from '../../core/call.ts'
import { useCallActions } from '../call-actions.ts'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'
import { useDraftDecisions } from './draft-decisions.ts'

/** One decision for all waiting calls, once there are several: each as its form is filled in (AP3, AP6). */
export function DecideAll({ calls }: { readonly calls: readonly Call[] }): ReactNode {
  const strings = useStrings()
  const { decideAll } = useCallActions()
  const { isBusy, error, run } = useAction()
  const drafts = useDraftDecisions()
  const ids = calls.map(({ id }) => id)
  if (decideAll === undefined) return null
  const decide = (decision: 'accept' | 'reject') =>
    run(async () => {
      const own = new Map(
        ids.map((id) => {
          const draft = drafts.get(id)
          const answer = draft === undefined ? { decision } : draft[decision]
          if (answer === null) throw new Error(strings.unreadArguments)
          return [id, answer]
        }),
      )
      await decideAll(ids, { decision }, own)
    })
  return (
    <div className="hf-actions hf-decide-all">
      <button
        type="button"
        className="hf-button"
        aria-disabled={isBusy}
        onClick={() => decide('accept')}
      >
        {strings.acceptAll(ids.length)}
      </button>
      <button
        type="button"
        className="hf-button"
        aria-disabled={isBusy}
        onClick={() => decide('reject')}
      >
        {strings.rejectAll(ids.length)}
      </button>
      <ActionError error={error} />
    </div>
  )
}
