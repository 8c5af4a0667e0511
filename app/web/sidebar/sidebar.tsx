import { useThreads } from 'holdfast/react'
import { Icon } from 'holdfast/widgets'
import { type KeyboardEvent, memo, type ReactNode, useEffect, useState } from 'react'
import { goTo } from '../place.ts'
import { SettingsDialog } from '../settings/settings-dialog.tsx'
import { FoundTexts } from './found-texts.tsx'
import { groupThreads } from './group-threads.ts'
import { ThreadLink } from './thread-link.tsx'
import { UndoNote } from './undo-note.tsx'
import { useRemoval } from './use-removal.ts'

export interface SidebarProps {
  readonly current: string
  readonly isDrawerOpen: boolean
  readonly onClose: () => void
}

/** The list of threads; under 768 px a drawer. */
export const Sidebar = memo(function Sidebar(props: SidebarProps): ReactNode {
  const { current, onClose } = props
  const { threads, status, error, hasMore, loadMore, refresh, rename, remove } = useThreads()
  const [query, setQuery] = useState('')
  const [now] = useState(Date.now)
  const removal = useRemoval(remove, current)
  const wanted = query.trim().toLowerCase()
  const found = threads.filter(({ title }) => title.toLowerCase().includes(wanted))
  useEffect(() => {
    // A search looks at every thread, not only at those that happen to be loaded.
    if (wanted !== '' && hasMore) loadMore().catch(() => undefined)
  }, [wanted, hasMore, loadMore, threads.length])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose()
  }
  return (
    // Escape closes the drawer from anywhere in it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <nav className="app-sidebar" aria-label="Conversations" onKeyDown={onKeyDown}>
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
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
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
      <div className="app-threads">
        {status === 'failed' && threads.length === 0 && (
          <p className="app-quiet" role="alert">
            {error}{' '}
            <button type="button" className="hf-button" onClick={() => void refresh()}>
              Try again
            </button>
          </p>
        )}
        {status === 'ready' && found.length === 0 && (
          <p className="app-quiet">
            {wanted === '' ? 'Your conversations will be here.' : 'Nothing found.'}
          </p>
        )}
        {groupThreads(found, now).map(({ name, items }) => (
          <section key={name} aria-label={name}>
            <h2>{name}</h2>
            <ul>
              {items.map((thread) => (
                <ThreadLink
                  key={thread.id}
                  thread={thread}
                  isCurrent={thread.id === current}
                  onOpen={onClose}
                  onRename={(title) => rename(thread.id, title)}
                  onRemove={() => removal.start(thread)}
                />
              ))}
            </ul>
          </section>
        ))}
        <FoundTexts query={query} onOpen={onClose} />
        {hasMore && wanted === '' && (
          <button type="button" className="hf-quiet" onClick={() => void loadMore()}>
            Show more
          </button>
        )}
      </div>
      <UndoNote removal={removal} />
      <SettingsDialog />
    </nav>
  )
})

const isMac = /mac|iphone|ipad/i.test(navigator.platform)
