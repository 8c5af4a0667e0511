import type { ThreadItem } from 'holdfast/client'
import { type MouseEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { goTo, threadPath } from '../place.ts'
import { ThreadMenu } from './thread-menu.tsx'
import { ThreadRename } from './thread-rename.tsx'
import type { ThreadActions } from './use-thread-actions.ts'

export interface ThreadLinkProps {
  readonly thread: ThreadItem
  readonly isCurrent: boolean
  readonly onOpen: () => void
  readonly actions: ThreadActions
}

export function ThreadLink({ thread, isCurrent, onOpen, actions }: ThreadLinkProps): ReactNode {
  const [isRenaming, setRenaming] = useState(false)
  const [wasRenamed, setRenamed] = useState(false)
  const row = useRef<HTMLLIElement>(null)
  const path = threadPath(thread.id)
  const title = thread.title.trim() === '' ? 'Untitled' : thread.title
  useEffect(() => {
    // The field is gone, and the focus with it.
    if (!isRenaming && wasRenamed) row.current?.querySelector('button')?.focus()
  }, [isRenaming, wasRenamed])
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
        <ThreadRename
          title={thread.title}
          onSave={(next) => actions.rename(thread, next)}
          onClose={(hadFocus) => {
            setRenamed(hadFocus)
            setRenaming(false)
          }}
        />
      </li>
    )
  }
  /** Whoever has taken the row away with the keyboard goes on at the next one. */
  const leave = (act: (item: ThreadItem) => void) => () => {
    const next = row.current?.nextElementSibling ?? row.current?.previousElementSibling
    act(thread)
    ;(next?.querySelector('a') ?? document.querySelector<HTMLElement>('.app-new'))?.focus()
  }
  const { pinned, archived } = thread
  return (
    <li ref={row} className="app-thread" data-current={isCurrent ? true : undefined}>
      {/* In its own direction, so that it is cut off where it ends. */}
      <a dir="auto" href={path} aria-current={isCurrent ? 'page' : undefined} onClick={open}>
        {title}
      </a>
      <ThreadMenu
        title={title}
        actions={[
          ...(archived
            ? []
            : [
                {
                  name: pinned ? 'Unpin' : 'Pin',
                  icon: 'pin' as const,
                  run: leave((item) => actions.pin(item, !pinned)),
                },
              ]),
          { name: 'Rename', icon: 'pencil', run: () => setRenaming(true) },
          archived
            ? { name: 'Unarchive', icon: 'unarchive', run: leave(actions.unarchive) }
            : { name: 'Archive', icon: 'archive', run: leave(actions.archive) },
          { name: 'Delete', icon: 'trash', run: leave(actions.remove), isDangerous: true },
        ]}
      />
    </li>
  )
}
