import type { ReactNode } from 'react'
import type { Removal } from './use-removal.ts'

export function UndoNote({ removal }: { readonly removal: Removal }): ReactNode {
  const { thread, undo } = removal
  return (
    <div aria-live="polite">
      {thread !== null && (
        <p className="app-undo">
          <span>
            Deleted “<bdi>{thread.title}</bdi>”
          </span>
          <button type="button" onClick={undo}>
            Undo
          </button>
        </p>
      )}
    </div>
  )
}
