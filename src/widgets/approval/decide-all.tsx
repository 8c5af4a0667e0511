import type { ReactNode } from 'react'
import type { Call } from '../../core/call.ts'
import { useTexts } from '../texts-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

/** One answer to all that wait, once there are several (AP6). */
export function DecideAll({ calls }: { readonly calls: readonly Call[] }): ReactNode {
  const texts = useTexts()
  const { client } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  const ids = calls.map(({ id }) => id)
  const decide = (decision: 'accept' | 'reject') => run(() => client.decideAll(ids, { decision }))
  return (
    <div className="hf-actions hf-decide-all">
      <button
        type="button"
        className="hf-button"
        disabled={isBusy}
        onClick={() => decide('accept')}
      >
        {texts.acceptAll(ids.length)}
      </button>
      <button
        type="button"
        className="hf-button"
        disabled={isBusy}
        onClick={() => decide('reject')}
      >
        {texts.rejectAll(ids.length)}
      </button>
      {error !== null && (
        <span className="hf-call-error" role="alert">
          {error}
        </span>
      )}
    </div>
  )
}
