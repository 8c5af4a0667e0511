import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import type { Call } from '../../core/call.ts'
import { useCallActions } from '../call-actions.ts'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'

/** One decision for all waiting calls, once there are several (AP6). */
export function DecideAll({ calls }: { readonly calls: readonly Call[] }): ReactNode {
  const strings = useStrings()
  const { decideAll } = useCallActions()
  const { isBusy, error, run } = useAction()
  const ids = calls.map(({ id }) => id)
  if (decideAll === undefined) return null
  const decide = (decision: 'accept' | 'reject') => run(() => decideAll(ids, { decision }))
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
