import type { ThreadItem, ThreadListClient } from 'holdfast/client'
import { useEffect, useRef, useState } from 'react'
import { goTo } from '../place.ts'

export interface Removal {
  readonly thread: ThreadItem | null
  readonly start: (thread: ThreadItem) => void
  readonly undo: () => void
}

const undoMs = 6_000

/** A thread leaves the list at once and is deleted only when nobody has taken it back. */
export function useRemoval(remove: ThreadListClient['remove'], current: string): Removal {
  const [thread, setThread] = useState<ThreadItem | null>(null)
  const open = useRef<ReturnType<ThreadListClient['remove']> | null>(null)
  const commit = () => {
    // One that could not be deleted is back in the list.
    void open.current?.commit().catch(() => undefined)
    open.current = null
    setThread(null)
  }
  useEffect(() => {
    if (thread === null) return undefined
    const timer = setTimeout(commit, undoMs)
    // Who leaves has not taken it back.
    addEventListener('pagehide', commit)
    return () => {
      clearTimeout(timer)
      removeEventListener('pagehide', commit)
    }
  }, [thread])
  return {
    thread,
    start(next) {
      commit()
      open.current = remove(next.id)
      setThread(next)
      if (next.id === current) goTo('/')
    },
    undo() {
      open.current?.undo()
      open.current = null
      setThread(null)
    },
  }
}
