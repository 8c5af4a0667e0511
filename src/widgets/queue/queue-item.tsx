import { type ReactNode, useLayoutEffect, useRef, useState } from 'react'
import type { QueuedInput } from '../../core/queued-input.ts'
import { userFilesOf, userTextOf } from '../../views/user-content.ts'
import { ActionError } from '../action-error.tsx'
import { Icon, type IconName } from '../icon.tsx'
import { MessageEditor } from '../message-editor.tsx'
import { useStrings } from '../strings-context.tsx'
import { useAction } from '../use-action.ts'

interface QueueItemProps {
  readonly input: QueuedInput
  /** Its position in the queue, from 0. */
  readonly place: number
  readonly edit: (text: string) => Promise<void>
  /** Undefined: it is the first. */
  readonly moveUp: (() => Promise<void>) | undefined
  /** Undefined: it is the last. */
  readonly moveDown: (() => Promise<void>) | undefined
  readonly withdraw: () => Promise<void>
}

/** One queued input: its text, and its actions. */
export function QueueItem(props: QueueItemProps): ReactNode {
  const { input, place, edit, moveUp, moveDown, withdraw } = props
  const strings = useStrings()
  const { isBusy, error, run } = useAction(place)
  const [isEditing, setEditing] = useState(false)
  const pressed = useRef<HTMLButtonElement>(null)
  // A row that is moved in the DOM loses the focus: the user would have to find it again to move it twice.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) pressed.current?.focus()
    pressed.current = null
  }, [place])
  const text = userTextOf(input)
  const files = userFilesOf(input).map(({ filename }) => filename ?? strings.file)
  const action = (name: IconName, label: string, work: (() => Promise<void>) | undefined) => (
    <button
      type="button"
      className={`hf-quiet hf-queue-action${label === strings.moveUp ? ' hf-queue-up' : ''}`}
      aria-label={label}
      title={label}
      // Not `disabled`, which would remove the focus in the middle of moving a row.
      aria-disabled={isBusy || work === undefined || undefined}
      onClick={({ currentTarget }) => {
        pressed.current = currentTarget
        if (work !== undefined) run(work)
      }}
    >
      <Icon name={name} />
    </button>
  )
  return (
    <li
      // Where the focus goes when the one before it is withdrawn.
      tabIndex={-1}
      data-message-id={input.id}
      data-mode={input.mode}
      data-held={input.held || undefined}
    >
      {isEditing ? (
        <QueueEditor text={text} save={edit} onClose={() => setEditing(false)} />
      ) : (
        <div className="hf-queue-row">
          <span className="hf-queue-text" dir="auto">
            {[text, ...files].filter((each) => each !== '').join(' · ')}
          </span>
          {input.mode !== 'queue' && (
            <span className="hf-queue-mode">{strings.inputMode[input.mode]}</span>
          )}
          <span className="hf-queue-actions">
            <button
              type="button"
              className="hf-quiet hf-queue-action"
              aria-label={strings.editQueued}
              title={strings.editQueued}
              aria-disabled={isBusy || undefined}
              onClick={() => setEditing(true)}
            >
              <Icon name="pencil" />
            </button>
            {action('down', strings.moveUp, moveUp)}
            {action('down', strings.moveDown, moveDown)}
            {action('trash', strings.withdraw, withdraw)}
          </span>
        </div>
      )}
      <ActionError error={error} />
    </li>
  )
}

interface QueueEditorProps {
  readonly text: string
  readonly save: (text: string) => Promise<void>
  readonly onClose: () => void
}

function QueueEditor({ text, save, onClose }: QueueEditorProps): ReactNode {
  const strings = useStrings()
  const [edited, setEdited] = useState(text)
  return (
    <MessageEditor
      label={strings.editQueued}
      saveLabel={strings.saveQueued}
      rows={2}
      text={edited}
      onChange={setEdited}
      canSave={edited.trim() !== ''}
      save={() => save(edited)}
      onClose={onClose}
    />
  )
}
