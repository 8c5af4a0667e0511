import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { ActionError } from '../action-error.tsx'
import { usePersistentUiState } from '../persistent-ui-state.tsx'
import { useStrings } from '../strings-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'
import { useCallActions } from '../call-actions.ts'
import type { UserPart } from '../../core/message.ts'
import { userTextOf } from '../../views/user-content.ts'
import { FileView } from './file-view.tsx'
import { readEffects } from './lasting-effects.ts'

interface UserMessageEditorProps {
  readonly id: string
  readonly parts: readonly UserPart[]
  readonly onClose: () => void
  /** Called with the tools whose effects remain although their calls are no longer visible (VR3). */
  readonly onEffects: (names: readonly string[]) => void
}

/**
 * A list at its end follows whatever grows in it, this form too: its field would be pushed out at the top, under the
 * eyes of whoever has just begun to write in it.
 */
function useFieldInView(field: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const element = field.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      if (document.activeElement === element) element.scrollIntoView({ block: 'nearest' })
    })
    observer.observe(element)
    // The list is measured in several passes, and moves after each.
    const rows = element.closest('.hf-rows')
    if (rows !== null) observer.observe(rows)
    return () => observer.disconnect()
  }, [field])
}

/** Saving sends a new version of the message, with its files; the old one stays, with what followed it (VR1). */
export function UserMessageEditor(props: UserMessageEditorProps): ReactNode {
  const { id, parts, onClose, onEffects } = props
  const strings = useStrings()
  const { client } = useCurrentThread()
  const actions = useCallActions()
  const { isBusy, error, run } = useAction()
  const [edited, setEdited] = usePersistentUiState(`edited ${id}`, userTextOf({ parts }))
  const files = parts.filter((part) => part.type === 'file')
  const isEmpty = edited.trim() === ''
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  useFieldInView(field)
  const save = () =>
    run(async () => {
      const effects = await readEffects(client, actions, id)
      const text = isEmpty ? [] : [{ type: 'text', text: edited } as const]
      await client.send([...files, ...text], { replaces: id })
      onEffects(effects)
      onClose()
    })
  return (
    <form
      className="hf-editor"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      {files.length > 0 && (
        <div className="hf-editor-files">
          {files.map((file, index) => (
            <FileView key={index} {...file} />
          ))}
        </div>
      )}
      <textarea
        ref={field}
        aria-label={strings.edit}
        dir="auto"
        rows={3}
        value={edited}
        onChange={(event) => setEdited(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
        }}
      />
      <ActionError error={error} />
      <div className="hf-actions">
        <button
          type="submit"
          className="hf-button hf-button-strong"
          aria-disabled={isBusy}
          disabled={isEmpty && files.length === 0}
        >
          {strings.save}
        </button>
        <button type="button" className="hf-button" disabled={isBusy} onClick={onClose}>
          {strings.cancel}
        </button>
      </div>
    </form>
  )
}
