import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import type { ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { Icon, Spinner } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { findRow, lastSentRow, type ListRow, toThreadRows } from './thread-rows.ts'
import { useMessageScroll } from './use-message-scroll.ts'
import { isTurn } from '../../core/message.ts'
import { TurnView } from '../message/turn-view.tsx'
import { UserMessageView } from '../message/user-message-view.tsx'

interface MessageListProps extends Pick<
  ThreadSnapshot,
  'messages' | 'pending' | 'hasOlder' | 'isLoadingOlder'
> {
  readonly loadOlder: () => Promise<void>
  readonly target?: string | undefined
}

/** The messages of a thread; in a long thread, only rows near the viewport are rendered. */
export function MessageList(props: MessageListProps): ReactNode {
  const { messages, pending, hasOlder, isLoadingOlder, loadOlder, target } = props
  const strings = useStrings()
  const scroller = useRef<HTMLElement>(null)
  const isPrinting = usePrinting()
  const rows = useMemo(() => toThreadRows({ messages, pending }), [messages, pending])
  const { virtualizer, isAtEnd, onScroll, jumpToLatest } = useMessageScroll({
    scroller,
    rows,
    hasOlder,
    loadOlder,
    target,
  })
  const items = virtualizer.getVirtualItems()
  const height = isPrinting ? undefined : virtualizer.getTotalSize()
  const offset = isPrinting ? 0 : (items[0]?.start ?? 0)
  const shown = isPrinting ? rows.map((_, index) => ({ index })) : items
  const last = lastSentRow(rows)
  const targetIndex = target === undefined ? -1 : findRow(rows, target)
  return (
    <div className="hf-list">
      <h2 className="hf-visually-hidden">{strings.messages}</h2>
      <section
        className="hf-scroll"
        ref={scroller}
        onScroll={onScroll}
        // Focusable, so that it can be scrolled by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard
        tabIndex={0}
        aria-label={strings.messages}
      >
        {isLoadingOlder && (
          <p className="hf-older" aria-live="polite">
            <Spinner />
            {strings.loadingOlder}
          </p>
        )}
        {isPrinting && hasOlder && <p className="hf-left-out">{strings.olderLeftOut}</p>}
        <div className="hf-rows" style={{ height }}>
          <div style={{ transform: `translateY(${offset}px)` }}>
            {shown.map(({ index }) => {
              const row = rows[index]
              return row === undefined ? null : (
                <div
                  key={row.key}
                  className="hf-row"
                  data-index={index}
                  data-target={index === targetIndex ? true : undefined}
                  ref={virtualizer.measureElement}
                >
                  <RowView row={row} isLast={index === last} />
                </div>
              )
            })}
          </div>
        </div>
      </section>
      {!isAtEnd && (
        <button type="button" className="hf-latest" onClick={jumpToLatest}>
          <Icon name="down" />
          {strings.latest}
        </button>
      )}
    </div>
  )
}

function RowView(props: { readonly row: ListRow; readonly isLast: boolean }): ReactNode {
  const { row, isLast } = props
  if (row.kind === 'pending') {
    return <UserMessageView id={row.key} parts={row.pending.parts} pending={row.pending} />
  }
  const { message } = row
  if (isTurn(message)) return <TurnView turn={message} isLast={isLast} />
  return <UserMessageView id={message.id} parts={message.parts} message={message} />
}

/** A printed page cannot be scrolled: all loaded rows are rendered while the page is printed. */
function usePrinting(): boolean {
  const [isPrinting, setPrinting] = useState(false)
  useEffect(() => {
    const paper = window.matchMedia('print')
    // The browser captures the page as soon as this returns.
    const before = () => flushSync(() => setPrinting(true))
    const after = () => setPrinting(paper.matches)
    window.addEventListener('beforeprint', before)
    window.addEventListener('afterprint', after)
    // Previews and tests change the medium without those two events.
    paper.addEventListener('change', after)
    return () => {
      window.removeEventListener('beforeprint', before)
      window.removeEventListener('afterprint', after)
      paper.removeEventListener('change', after)
    }
  }, [])
  return isPrinting
}
