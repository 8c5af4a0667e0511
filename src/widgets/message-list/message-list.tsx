import { type ReactNode, useMemo, useRef } from 'react'
import type { ThreadSnapshot } from '../../client/thread-snapshot.ts'
import { Icon, Spinner } from '../icon.tsx'
import { useStrings } from '../strings-context.tsx'
import { RowView } from './row-view.tsx'
import { findRow, lastSentRow, toThreadRows } from './thread-rows.ts'
import { useMessageScroll } from './use-message-scroll.ts'
import { usePrinting } from './use-printing.ts'

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
