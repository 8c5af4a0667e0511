import type { ThreadItem } from 'holdfast/client'
import type { ReactNode } from 'react'
import type { ThreadGroup } from './group-threads.ts'
import { ThreadLink } from './thread-link.tsx'
import type { ThreadActions } from './use-thread-actions.ts'

export interface ThreadSectionsProps {
  readonly groups: readonly ThreadGroup[]
  readonly current: string
  readonly onOpen: () => void
  readonly actions: ThreadActions
}

export function ThreadSections(props: ThreadSectionsProps): ReactNode {
  const { groups, current, onOpen, actions } = props
  return (
    <>
      {groups.map(({ name, items }) => (
        <section key={name} aria-label={name}>
          <h2>{name}</h2>
          <ul>
            {items.map((thread) => (
              <ThreadLink
                key={thread.id}
                thread={thread}
                isCurrent={thread.id === current}
                onOpen={onOpen}
                actions={actions}
              />
            ))}
          </ul>
        </section>
      ))}
      {/* Errors too: what fails here leaves the list as it was. */}
      <output className="app-said">{actions.words}</output>
    </>
  )
}

/** What is pinned, of both lists: what has just been pinned or taken down is known to the first before the second. */
export function pinnedOf(
  threads: readonly ThreadItem[],
  pinned: readonly ThreadItem[],
): readonly ThreadItem[] {
  const known = new Map(threads.map((thread) => [thread.id, thread]))
  const kept = pinned.map((thread) => known.get(thread.id) ?? thread)
  const listed = new Set(kept.map(({ id }) => id))
  return [...kept, ...threads.filter(({ id }) => !listed.has(id))]
    .filter((thread) => thread.pinned)
    .sort((left, right) => Date.parse(right.updatedAt) - Date.parse(left.updatedAt))
}
