import { type ReactNode, useEffect, useRef } from 'react'
import { ActionError } from '../action-error.tsx'
import { useKeptState } from '../kept-state.tsx'
import { useTexts } from '../texts-context.tsx'
import { useCurrentThread } from '../thread-context.ts'
import { useAction } from '../use-action.ts'

export interface UserMessageEditorProps {
  readonly id: string
  readonly text: string
  readonly onClose: () => void
}

/** Saving takes the message and what followed it out of the thread and answers the new one. */
export function UserMessageEditor({ id, text, onClose }: UserMessageEditorProps): ReactNode {
  const texts = useTexts()
  const { client } = useCurrentThread()
  const { isBusy, error, run } = useAction()
  const [edited, setEdited] = useKeptState(`edited ${id}`, text)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => field.current?.focus(), [])
  const save = () =>
    run(async () => {
      await client.send([{ type: 'text', text: edited }], { replaces: id })
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
      <textarea
        ref={field}
        aria-label={texts.edit}
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
          disabled={isBusy || edited.trim() === ''}
        >
          {texts.save}
        </button>
        <button type="button" className="hf-button" disabled={isBusy} onClick={onClose}>
          {texts.cancel}
        </button>
      </div>
    </form>
  )
}
