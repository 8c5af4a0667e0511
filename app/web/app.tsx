import { Thread } from 'holdfast/widgets'
import { type ReactNode, useCallback, useState } from 'react'
import { EmptyState } from './empty-state.tsx'
import { goTo, threadPath, usePlace } from './place.ts'
import { Sidebar } from './sidebar/sidebar.tsx'
import { ThreadHeader } from './thread-header.tsx'
import { useShortcuts } from './use-shortcuts.ts'
import { useThreadWatch } from './use-thread-watch.ts'

export function App(): ReactNode {
  const place = usePlace()
  const { threadId } = place
  const [isDrawerOpen, setDrawerOpen] = useState(false)
  const closeDrawer = useCallback(() => setDrawerOpen(false), [])
  useShortcuts(() => setDrawerOpen(true))
  return (
    <div className="app" data-drawer={isDrawerOpen ? 'open' : undefined}>
      <a className="app-skip" href="#main">
        Skip to the conversation
      </a>
      <Sidebar current={threadId} onClose={closeDrawer} isDrawerOpen={isDrawerOpen} />
      {isDrawerOpen && (
        <button
          type="button"
          className="app-shade"
          aria-label="Close the list"
          onClick={closeDrawer}
        />
      )}
      <main id="main" className="app-main">
        <ThreadHeader
          threadId={threadId}
          isNew={place.kind === 'new'}
          onMenu={() => setDrawerOpen(true)}
        />
        <ThreadWatch threadId={threadId} isNew={place.kind === 'new'} />
        <Thread
          threadId={threadId}
          isNew={place.kind === 'new'}
          target={place.kind === 'thread' ? place.target : undefined}
          empty={<EmptyState />}
          onFork={openThread}
          // On a phone the keyboard would cover what is there to read.
          takesFocus={!matchMedia('(pointer: coarse)').matches}
        />
      </main>
    </div>
  )
}

const openThread = (threadId: string) => goTo(threadPath(threadId))

/** A component of its own, so that text that streams draws nothing else anew. */
function ThreadWatch(props: { readonly threadId: string; readonly isNew: boolean }): ReactNode {
  useThreadWatch(props.threadId, props.isNew)
  return null
}
