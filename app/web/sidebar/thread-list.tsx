import { useThreads } from 'holdfast/react'
import { Icon } from 'holdfast/widgets'
import { type ReactNode, useEffect, useState } from 'react'
import { FoundTexts } from './found-texts.tsx'
import { groupThreads } from './group-threads.ts'
import { pinnedOf, ThreadSections } from './thread-sections.tsx'
import { useThreadActions } from './use-thread-actions.ts'
import type { Undo } from './use-undo.ts'

export interface ThreadListProps {
  readonly current: string
  readonly query: string
  readonly undo: Undo
  readonly onOpen: () => void
  readonly onArchive: () => void
}

/** What is pinned, then the rest by day, and what was found in messages. */
export function ThreadList(props: ThreadListProps): ReactNode {
  const { current, query, undo, onOpen, onArchive } = props
  const list = useThreads()
  const { threads, status, error, hasMore, loadMore, refresh } = list
  const pinned = useThreads({ pinned: true })
  const { hasMore: hasMorePinned, loadMore: loadMorePinned } = pinned
  const actions = useThreadActions(list, undo, current)
  const [now] = useState(Date.now)
  const wanted = query.trim().toLowerCase()
  useEffect(() => {
    // A search looks at every thread, not only at those that happen to be loaded.
    if (wanted !== '' && hasMore) loadMore().catch(() => undefined)
  }, [wanted, hasMore, loadMore, threads.length])
  useEffect(() => {
    if (hasMorePinned) loadMorePinned().catch(() => undefined)
  }, [hasMorePinned, loadMorePinned, pinned.threads.length])
  const isWanted = ({ title }: { readonly title: string }) => title.toLowerCase().includes(wanted)
  const kept = pinnedOf(threads, pinned.threads).filter(isWanted)
  const others = threads.filter((thread) => !thread.pinned && isWanted(thread))
  const listed = new Set([...kept, ...others].map(({ id }) => id))
  const groups = [
    ...(kept.length === 0 ? [] : [{ name: 'Pinned', items: kept }]),
    ...groupThreads(others, now),
  ]
  return (
    <div className="app-threads">
      {status === 'failed' && threads.length === 0 && (
        <p className="app-quiet" role="alert">
          {error}{' '}
          <button type="button" className="hf-button" onClick={() => void refresh()}>
            Try again
          </button>
        </p>
      )}
      {status === 'ready' && groups.length === 0 && (
        <p className="app-quiet">
          {wanted === '' ? 'Your conversations will be here.' : 'Nothing found.'}
        </p>
      )}
      <ThreadSections groups={groups} current={current} onOpen={onOpen} actions={actions} />
      <FoundTexts query={query} listed={listed} onOpen={onOpen} />
      {hasMore && wanted === '' && (
        <button type="button" className="hf-quiet" onClick={() => void loadMore()}>
          Show more
        </button>
      )}
      {status === 'ready' && wanted === '' && (
        <button type="button" className="app-archive" onClick={onArchive}>
          <Icon name="archive" />
          Archived
        </button>
      )}
    </div>
  )
}
