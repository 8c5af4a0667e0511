import { type FoundText, useSearch } from 'holdfast/react'
import type { MouseEvent, ReactNode } from 'react'
import { goTo, threadPath } from '../place.ts'

export interface FoundTextsProps {
  readonly query: string
  /** The threads that are in the list above, where their titles are found. */
  readonly listed: ReadonlySet<string>
  readonly onOpen: () => void
}

/** What was said with these words, in any conversation; each leads to the message. */
export function FoundTexts({ query, listed, onOpen }: FoundTextsProps): ReactNode {
  const { status, results, hasMore, isComplete } = useSearch(query)
  // The archive is not in the list above, and is searched as everything else is.
  const texts = results.filter(
    ({ messageId, threadId }) => messageId !== null || !listed.has(threadId),
  )
  if (status === 'idle') return null
  return (
    <section aria-label="In messages" aria-busy={status === 'searching'}>
      <h2>In messages</h2>
      <output className="app-quiet">
        {wordsOf(status, texts.length, hasMore)}
        {!isComplete && ' Older messages are still being indexed: search again in a moment.'}
      </output>
      <ul>
        {texts.map((found) => (
          <li key={`${found.threadId} ${found.messageId}`} className="app-found">
            <FoundLink found={found} onOpen={onOpen} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function wordsOf(status: string, count: number, hasMore: boolean): string {
  if (status === 'failed') return 'The search failed.'
  if (count === 0) return status === 'searching' ? 'Searching…' : 'No message found.'
  return hasMore ? `The newest ${count}` : `${count} found`
}

function FoundLink(props: { readonly found: FoundText; readonly onOpen: () => void }): ReactNode {
  const { threadId, messageId, title, snippet, ranges } = props.found
  const path = `${threadPath(threadId)}${messageId === null ? '' : `#${encodeURIComponent(messageId)}`}`
  const open = (event: MouseEvent) => {
    // With a key held down it is the browser's: a new tab, a new window.
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goTo(path)
    props.onOpen()
  }
  return (
    <a href={path} onClick={open}>
      <strong dir="auto">{title === '' ? 'Untitled' : title}</strong>
      {messageId !== null && <span dir="auto">{toMarked(snippet, ranges)}</span>}
    </a>
  )
}

function toMarked(text: string, ranges: FoundText['ranges']): readonly ReactNode[] {
  const pieces: ReactNode[] = []
  let from = 0
  for (const [start, end] of ranges) {
    pieces.push(text.slice(from, start), <mark key={start}>{text.slice(start, end)}</mark>)
    from = end
  }
  return [...pieces, text.slice(from)]
}
