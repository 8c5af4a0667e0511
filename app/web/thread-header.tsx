import { useThread } from 'holdfast/react'
import { Icon } from 'holdfast/widgets'
import type { ReactNode } from 'react'
import { ExportMenu } from './export/export-menu.tsx'
import { goTo, threadPath } from './place.ts'
import { ShareDialog } from './share/share-dialog.tsx'

export interface ThreadHeaderProps {
  readonly threadId: string
  readonly isNew: boolean
  readonly onMenu: () => void
}

export function ThreadHeader({ threadId, isNew, onMenu }: ThreadHeaderProps): ReactNode {
  const { title, messages, status, connection, archived, forkedFrom } = useThread(threadId, {
    isNew,
  })
  const isMissing = connection.status === 'refused' && messages.length === 0
  const nameless = isNew ? 'New chat' : status === 'loading' ? 'Loading…' : 'Untitled'
  return (
    <header className="app-header">
      <button type="button" className="app-menu" aria-label="Show the list" onClick={onMenu}>
        <Icon name="menu" />
      </button>
      {/* In its own direction, so that it is cut off where it ends. */}
      <h1 dir="auto" title={title}>
        {title.trim() === '' ? (isMissing ? 'Not found' : nameless) : title}
      </h1>
      {isMissing && (
        <button type="button" className="hf-button" onClick={() => goTo('/')}>
          New chat
        </button>
      )}
      {archived && (
        <p className="app-archived">
          <Icon name="archive" />
          Archived
        </p>
      )}
      {forkedFrom !== undefined && (
        <a
          className="app-forked"
          href={`${threadPath(forkedFrom.threadId)}#${encodeURIComponent(forkedFrom.messageId)}`}
          onClick={(event) => {
            event.preventDefault()
            goTo(event.currentTarget.getAttribute('href') ?? '/')
          }}
        >
          <Icon name="fork" />
          <span>Forked from another chat</span>
        </a>
      )}
      {messages.length > 0 && <ShareDialog threadId={threadId} />}
      {messages.length > 0 && <ExportMenu threadId={threadId} title={title} />}
    </header>
  )
}
