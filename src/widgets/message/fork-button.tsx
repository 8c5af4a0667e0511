import type { ReactNode } from 'react'
import { ActionError } from '../action-error.tsx'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

/** Forks the thread at this message, and opens the fork (VR4). */
export function ForkButton({ messageId }: { readonly messageId: string }): ReactNode {
  const strings = useStrings()
  const { client, onFork } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  if (onFork === undefined) return null
  return (
    <>
      <button
        type="button"
        className="hf-quiet"
        title={strings.fork}
        aria-disabled={isBusy}
        onClick={() => run(async () => onFork((await client.fork(messageId)).threadId))}
      >
        <Icon name="fork" />
        <span className="hf-label">{strings.fork}</span>
      </button>
      <ActionError error={error} />
    </>
  )
}
