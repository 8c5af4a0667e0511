import { memo, type ReactNode, useRef } from 'react'
import type { PendingMessage } from '../../client/thread-snapshot.ts'
import type { UserMessage, UserPart } from '../../core/message.ts'
import { userTextOf } from '../../views/user-content.ts'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useReturnedFocus } from '../use-returned-focus.ts'
import { FileView } from './file-view.tsx'
import { ForkButton } from './fork-button.tsx'
import { useEffectNames, versionKeyOf } from './lasting-effects.ts'
import { UserMessageEditor } from './user-message-editor.tsx'
import { UserText } from './user-text.tsx'
import { EffectsNote, VersionSwitch } from './version-switch.tsx'

interface UserMessageViewProps {
  readonly id: string
  readonly parts: readonly UserPart[]
  /** Set while it is not stored yet, or could not be. The same element shows it before and after. */
  readonly pending?: PendingMessage | undefined
  /** The stored message. */
  readonly message?: UserMessage | undefined
}

export const UserMessageView = memo(function UserMessageView(
  props: UserMessageViewProps,
): ReactNode {
  const { id, parts, pending, message } = props
  const strings = useStrings()
  const { isReadOnly = false } = useCurrentThread()
  const [isEditing, setEditing] = usePersistentUiState(`editing ${id}`, false)
  const [effects, setEffects] = useEffectNames(message === undefined ? id : versionKeyOf(message))
  const editButton = useRef<HTMLButtonElement>(null)
  useReturnedFocus(isEditing, editButton)
  const text = userTextOf({ parts })
  if (isEditing) {
    const close = () => setEditing(false)
    return <UserMessageEditor {...{ id, parts }} onClose={close} onEffects={setEffects} />
  }
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
        {text !== '' && <UserText key={id} id={id} text={text} />}
      </div>
      {pending === undefined ? (
        <div className="hf-message-foot">
          <div className="hf-message-actions">
            <CopyButton text={() => text} label={strings.copy} />
            {!isReadOnly && (
              <button
                ref={editButton}
                type="button"
                className="hf-quiet"
                title={strings.edit}
                onClick={() => setEditing(true)}
              >
                <Icon name="pencil" />
                <span className="hf-label">{strings.edit}</span>
              </button>
            )}
            <ForkButton messageId={id} />
          </div>
          {message !== undefined && <VersionSwitch message={message} onEffects={setEffects} />}
        </div>
      ) : (
        <PendingNote pending={pending} />
      )}
      <EffectsNote names={effects} />
    </article>
  )
})

/** A message that could not be sent is kept, shows its error, and can be sent again under the same id. */
function PendingNote({ pending }: { readonly pending: PendingMessage }): ReactNode {
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
