import type { ThreadItem } from 'holdfast/client'
import { useEffect, useRef, useState } from 'react'

/** Something that was done with a thread and can be taken back for a while. */
export interface UndoableAction {
  /** What was done, as the note says it: “Deleted”, “Archived”. */
  readonly done: string
  readonly thread: ThreadItem
  /** Makes it final once nobody has taken it back. Absent: it is stored already. */
  readonly commit?: () => Promise<void>
  readonly undo: () => void
}

export interface Undo {
  readonly action: UndoableAction | null
  readonly start: (action: UndoableAction) => void
  readonly undo: () => void
  /** Somebody is about to: it does not run out meanwhile. */
  readonly hold: (isHeld: boolean) => void
}

const undoMs = 6_000

/** The last thing that can be taken back; what comes next makes it final. */
export function useUndo(): Undo {
  const [action, setAction] = useState<UndoableAction | null>(null)
  const [isHeld, hold] = useState(false)
  const open = useRef<UndoableAction | null>(null)
  const commit = () => {
    // What could not be done is back in the list.
    void open.current?.commit?.().catch(() => undefined)
    open.current = null
    setAction(null)
    hold(false)
  }
  useEffect(() => {
    if (action === null) return undefined
    const timer = isHeld ? undefined : setTimeout(commit, undoMs)
    // Who leaves has not taken it back.
    addEventListener('pagehide', commit)
    return () => {
      clearTimeout(timer)
      removeEventListener('pagehide', commit)
    }
  }, [action, isHeld])
  return {
    action,
    start(next) {
      commit()
      open.current = next
      setAction(next)
    },
    undo() {
      open.current?.undo()
      open.current = null
      setAction(null)
      hold(false)
    },
    hold,
  }
}
