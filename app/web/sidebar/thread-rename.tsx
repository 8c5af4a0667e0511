import { type ReactNode, useEffect, useRef, useState } from 'react'

export interface ThreadRenameProps {
  readonly title: string
  readonly onSave: (title: string) => Promise<void>
  /** `hadFocus`: with Enter or Escape, so the focus has nowhere to go by itself. */
  readonly onClose: (hadFocus: boolean) => void
}

export function ThreadRename({ title, onSave, onClose }: ThreadRenameProps): ReactNode {
  const [text, setText] = useState(title)
  const [error, setError] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    field.current?.focus()
    field.current?.select()
  }, [])
  const save = () => {
    onSave(text.trim())
      // Whoever has gone on to another field while it was stored keeps the focus there.
      .then(() => onClose(field.current === document.activeElement))
      .catch((thrown: unknown) =>
        setError(thrown instanceof Error ? thrown.message : String(thrown)),
      )
  }
  return (
    <form
      className="app-rename"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <input
        ref={field}
        dir="auto"
        aria-label="New name"
        aria-invalid={error !== null}
        title={error ?? undefined}
        maxLength={500}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => onClose(false)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          onClose(true)
        }}
      />
    </form>
  )
}
