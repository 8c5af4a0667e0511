import { type ReactNode, type RefObject, useEffect, useRef } from 'react'
import { ActionError } from './action-error.tsx'
import { useStrings } from './strings-context.tsx'
import { useAction } from './use-action.ts'

interface MessageEditorProps {
  /** The name of the field. */
  readonly label: string
  readonly saveLabel: string
  readonly rows: number
  readonly text: string
  readonly onChange: (text: string) => void
  readonly canSave: boolean
  /** The editor closes when it has resolved. */
  readonly save: () => Promise<void>
  readonly onClose: () => void
  /** Shown above the field. */
  readonly children?: ReactNode
}

/** Edits the text of a message in its place. Escape closes it. */
export function MessageEditor(props: MessageEditorProps): ReactNode {
  const { label, saveLabel, rows, text, onChange, canSave, save, onClose, children } = props
  const strings = useStrings()
  const { isBusy, error, run } = useAction()
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  useFieldInView(field)
  return (
    <form
      className="hf-editor"
      onSubmit={(event) => {
        event.preventDefault()
        run(async () => {
          await save()
          onClose()
        })
      }}
    >
      {children}
      <textarea
        ref={field}
        aria-label={label}
        dir="auto"
        rows={rows}
        value={text}
        onChange={(event) => onChange(event.target.value)}
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
          disabled={!canSave}
        >
          {saveLabel}
        </button>
        <button type="button" className="hf-button" disabled={isBusy} onClick={onClose}>
          {strings.cancel}
        </button>
      </div>
    </form>
  )
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
