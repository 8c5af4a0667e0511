import type { ReactNode } from 'react'
import type { Undo } from './use-undo.ts'

export interface UndoNoteProps {
  readonly undo: Undo
  /** The note is gone, and the focus with it. */
  readonly onUndone: () => void
}

export function UndoNote({ undo: { action, undo, hold }, onUndone }: UndoNoteProps): ReactNode {
  return (
    <div aria-live="polite">
      {action !== null && (
        <p className="app-undo">
          <span>
            {action.done} “
            <bdi>{action.thread.title === '' ? 'Untitled' : action.thread.title}</bdi>”
          </span>
          <button
            type="button"
            onFocus={() => hold(true)}
            onBlur={() => hold(false)}
            onClick={() => {
              undo()
              onUndone()
            }}
          >
            Undo
          </button>
        </p>
      )}
    </div>
  )
}
