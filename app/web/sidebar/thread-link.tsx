import type { ThreadItem } from 'holdfast/client'
import { Icon } from 'holdfast/widgets'
import { type MouseEvent, type ReactNode, useState } from 'react'
import { goTo, threadPath } from '../place.ts'
import { ThreadRename } from './thread-rename.tsx'

export interface ThreadLinkProps {
  readonly thread: ThreadItem
  readonly isCurrent: boolean
  readonly onOpen: () => void
  readonly onRename: (title: string) => Promise<void>
  readonly onRemove: () => void
}

export function ThreadLink(props: ThreadLinkProps): ReactNode {
  const { thread, isCurrent, onOpen, onRename, onRemove } = props
  const [isRenaming, setRenaming] = useState(false)
  const path = threadPath(thread.id)
  const title = thread.title === '' ? 'Untitled' : thread.title
  const open = (event: MouseEvent) => {
    // With a key held down it is the browser's: a new tab, a new window.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goTo(path)
    onOpen()
  }
  if (isRenaming) {
    return (
      <li>
        <ThreadRename title={thread.title} onSave={onRename} onClose={() => setRenaming(false)} />
      </li>
    )
  }
  return (
    <li className="app-thread" data-current={isCurrent ? true : undefined}>
      {/* In its own direction, so that it is cut off where it ends. */}
      <a dir="auto" href={path} aria-current={isCurrent ? 'page' : undefined} onClick={open}>
        {title}
      </a>
      <button type="button" aria-label={`Rename ${title}`} onClick={() => setRenaming(true)}>
        <Icon name="pencil" />
      </button>
      <button type="button" aria-label={`Delete ${title}`} onClick={onRemove}>
        <Icon name="trash" />
      </button>
    </li>
  )
}
