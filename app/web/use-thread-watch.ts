import { useThread, useThreads } from 'holdfast/react'
import { useEffect } from 'react'
import { claimNewThread } from './place.ts'

/** Gives a new chat its address once it has begun, and keeps the list of threads in step. */
export function useThreadWatch(threadId: string, isNew: boolean): void {
  const { messages, title, isRunning, pinned, archived } = useThread(threadId, { isNew })
  const { refresh } = useThreads()
  const { refresh: refreshPinned } = useThreads({ pinned: true })
  const hasBegun = messages.length > 0
  useEffect(() => {
    if (isNew && hasBegun) claimNewThread(threadId)
  }, [isNew, hasBegun, threadId])
  useEffect(() => {
    if (hasBegun) void refresh()
  }, [hasBegun, isRunning, title, pinned, archived, threadId, refresh])
  useEffect(() => {
    if (hasBegun) void refreshPinned()
  }, [hasBegun, title, pinned, archived, threadId, refreshPinned])
  useEffect(() => {
    document.title = title === '' ? 'Holdfast' : `${title} · Holdfast`
  }, [title])
}
