import type { ReactNode } from 'react'
import type { Undo } from './use-undo.ts'

export function UndoNote({ undo: { action, undo } }: { readonly undo: Undo }): ReactNode {
  return (
    <div aria-live="polite">
      {action !== null && (
        <p className="app-undo">
          <span>
            {action.done} “
            <bdi>{action.thread.title === '' ? 'Untitled' : action.thread.title}</bdi>”
          </span>
          <button type="button" onClick={undo}>
            Undo
          </button>
        </p>
      )}
    </div>
  )
}
