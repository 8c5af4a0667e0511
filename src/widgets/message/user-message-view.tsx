import { memo, type ReactNode } from 'react'
import type { PendingMessage } from '../../client/thread-snapshot.ts'
import type { UserPart } from '../../core/message.ts'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { FileView } from './file-view.tsx'
import { PendingNote } from './pending-note.tsx'
import { UserMessageEditor } from './user-message-editor.tsx'

interface UserMessageViewProps {
  readonly id: string
  readonly parts: readonly UserPart[]
  /** Not stored yet, or it could not be. The same element shows it before and after. */
  readonly pending?: PendingMessage | undefined
}

export const UserMessageView = memo(function UserMessageView(
  props: UserMessageViewProps,
): ReactNode {
  const { id, parts, pending } = props
  const strings = useStrings()
  const [isEditing, setEditing] = usePersistentUiState(`editing ${id}`, false)
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
  if (isEditing) return <UserMessageEditor id={id} text={text} onClose={() => setEditing(false)} />
  return (
    <article
      className="hf-user"
      data-message-id={id}
      data-pending={pending?.state}
      aria-label={strings.you}
    >
      <div className="hf-bubble">
        {parts.map((part, index) =>
          part.type === 'file' ? <FileView key={index} {...part} /> : null,
        )}
        {text !== '' && (
          <div className="hf-user-text" dir="auto">
            {text}
          </div>
        )}
      </div>
      {pending === undefined ? (
        <div className="hf-message-actions">
          <CopyButton text={() => text} label={strings.copy} />
          <button type="button" className="hf-quiet" onClick={() => setEditing(true)}>
            <Icon name="pencil" />
            {strings.edit}
          </button>
        </div>
      ) : (
        <PendingNote pending={pending} />
      )}
    </article>
  )
})
