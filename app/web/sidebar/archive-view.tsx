import { useThreads } from 'holdfast/react'
import { Icon } from 'holdfast/widgets'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { groupThreads } from './group-threads.ts'
import { ThreadSections } from './thread-sections.tsx'
import { useThreadActions } from './use-thread-actions.ts'
import type { Undo } from './use-undo.ts'

export interface ArchiveViewProps {
  readonly current: string
  readonly undo: Undo
  readonly onOpen: () => void
  readonly onBack: () => void
}

/** What was put away, in the place of the list. */
export function ArchiveView({ current, undo, onOpen, onBack }: ArchiveViewProps): ReactNode {
  const list = useThreads({ archived: true })
  const actions = useThreadActions(list, undo, current)
  const [now] = useState(Date.now)
  const back = useRef<HTMLButtonElement>(null)
  useEffect(() => back.current?.focus(), [])
  return (
    <div className="app-threads">
      <button ref={back} type="button" className="app-archive" onClick={onBack}>
        <Icon name="chevron" />
        All conversations
      </button>
      {list.status === 'failed' && list.threads.length === 0 && (
        <p className="app-quiet" role="alert">
          {list.error}{' '}
          <button type="button" className="hf-button" onClick={() => void list.refresh()}>
            Try again
          </button>
        </p>
      )}
      {list.status === 'ready' && list.threads.length === 0 && (
        <p className="app-quiet">Nothing is archived.</p>
      )}
      <ThreadSections
        groups={groupThreads(list.threads, now)}
        current={current}
        onOpen={onOpen}
        actions={actions}
      />
      {list.hasMore && (
        <button type="button" className="hf-quiet" onClick={() => void list.loadMore()}>
          Show more
        </button>
      )}
    </div>
  )
}
