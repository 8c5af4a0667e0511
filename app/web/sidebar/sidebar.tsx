import { Icon } from 'holdfast/widgets'
import { type KeyboardEvent, memo, type ReactNode, useEffect, useRef, useState } from 'react'
import { commandKey } from '../keys.ts'
import { goTo } from '../place.ts'
import { SettingsDialog } from '../settings/settings-dialog.tsx'
import { ArchiveView } from './archive-view.tsx'
import { ThreadList } from './thread-list.tsx'
import { UndoNote } from './undo-note.tsx'
import { useUndo } from './use-undo.ts'

export interface SidebarProps {
  readonly current: string
  readonly isDrawerOpen: boolean
  readonly onClose: () => void
}

/** The list of threads; under 768 px a drawer. */
export const Sidebar = memo(function Sidebar(props: SidebarProps): ReactNode {
  const { current, onClose } = props
  const [query, setQuery] = useState('')
  const [isArchive, setArchive] = useState(false)
  const undo = useUndo()
  const nav = useRef<HTMLElement>(null)
  const wasArchive = useRef(false)
  useEffect(() => {
    // The way back is gone, and the focus with it: it goes to where the archive was opened.
    if (wasArchive.current && !isArchive) focusIn(nav.current, '.app-archive')
    wasArchive.current = isArchive
  }, [isArchive])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
  }
  return (
    // Escape closes the drawer from anywhere in it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <nav ref={nav} className="app-sidebar" aria-label="Conversations" onKeyDown={onKeyDown}>
      <div className="app-brand">
        <img src="/icon.svg" alt="" width="24" height="24" />
        <span>Holdfast</span>
      </div>
      <button
        type="button"
        className="app-new"
        onClick={() => {
          goTo('/')
          onClose()
        }}
      >
        <Icon name="plus" />
        New chat
        <kbd>{commandKey} K</kbd>
      </button>
      <label className="app-search">
        <Icon name="search" />
        <input
          id="thread-search"
          type="search"
          placeholder="Search"
          aria-label="Search conversations"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </label>
      {isArchive && query.trim() === '' ? (
        <ArchiveView
          current={current}
          undo={undo}
          onOpen={onClose}
          onBack={() => setArchive(false)}
        />
      ) : (
        <ThreadList
          current={current}
          query={query}
          undo={undo}
          onOpen={onClose}
          onArchive={() => setArchive(true)}
        />
      )}
      <UndoNote undo={undo} onUndone={() => focusIn(nav.current, '.app-new')} />
      <SettingsDialog />
    </nav>
  )
})

const focusIn = (within: HTMLElement | null, selector: string): void =>
  within?.querySelector<HTMLElement>(selector)?.focus()
