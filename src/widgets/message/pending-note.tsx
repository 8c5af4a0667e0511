import type { ReactNode } from 'react'
import type { PendingMessage } from '../../client/thread-snapshot.ts'
import { Icon } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'

/** A message that could not be sent is kept, shows its error, and can be sent again under the same id. */
export function PendingNote({ pending }: { readonly pending: PendingMessage }): ReactNode {
  const strings = useStrings()
  const { client } = useCurrentThread()
  if (pending.state === 'sending') return null
  return (
    <div className="hf-note hf-note-error" role="alert">
      <Icon name="warning" />
      <span>
        {strings.sendFailed} {pending.error}
      </span>
      <div className="hf-actions">
        <button
          type="button"
          className="hf-button"
          // A failure of the retry is shown by the message itself.
          onClick={() => void client.retry(pending.id).catch(() => undefined)}
        >
          {strings.tryAgain}
        </button>
        <button type="button" className="hf-button" onClick={() => client.discard(pending.id)}>
          {strings.discard}
        </button>
      </div>
    </div>
  )
}
