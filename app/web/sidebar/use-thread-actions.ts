import type { ThreadItem } from 'holdfast/client'
import type { UsedThreads } from 'holdfast/react'
import { useState } from 'react'
import { goTo } from '../place.ts'
import type { Undo } from './use-undo.ts'

/** What can be done with a thread of a list. */
export interface ThreadActions {
  readonly rename: (thread: ThreadItem, title: string) => Promise<void>
  readonly pin: (thread: ThreadItem, isPinned: boolean) => void
  readonly archive: (thread: ThreadItem) => void
  readonly unarchive: (thread: ThreadItem) => void
  readonly remove: (thread: ThreadItem) => void
  /** What was done last, or why it could not be done; for whoever does not see the list. */
  readonly words: string
}

export function useThreadActions(list: UsedThreads, undo: Undo, current: string): ThreadActions {
  const { update, remove } = list
  const [words, setWords] = useState('')
  const attempt = async (work: Promise<void>, done: string) => {
    try {
      await work
      setWords(done)
    } catch (thrown) {
      setWords(thrown instanceof Error ? thrown.message : String(thrown))
    }
  }
  const unarchive = (thread: ThreadItem) => {
    void attempt(update(thread.id, { archived: false }), `${nameOf(thread)} is back in the list.`)
  }
  return {
    words,
    rename: (thread, title) => update(thread.id, { title }),
    pin(thread, pinned) {
      const done = `${nameOf(thread)} is ${pinned ? 'pinned' : 'no longer pinned'}.`
      void attempt(update(thread.id, { pinned }), done)
    },
    archive(thread) {
      const archive = async () => {
        await update(thread.id, { archived: true })
        undo.start({ done: 'Archived', thread, undo: () => unarchive(thread) })
      }
      void attempt(archive(), '')
    },
    unarchive,
    remove(thread) {
      undo.start({ done: 'Deleted', thread, ...remove(thread.id) })
      if (thread.id === current) goTo('/')
    },
  }
}

const nameOf = ({ title }: ThreadItem): string => (title === '' ? 'The conversation' : `“${title}”`)
