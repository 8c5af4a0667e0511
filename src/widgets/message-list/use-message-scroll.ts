import { type Virtualizer, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { estimateRow } from './estimate-row.ts'
import { createHeldPlace } from './held-place.ts'
import { createFiller } from './older-filler.ts'
import { findRow, type ListRow } from './thread-rows.ts'

interface MessageScrollOptions {
  readonly scroller: RefObject<HTMLElement | null>
  readonly rows: readonly ListRow[]
  readonly hasOlder: boolean
  readonly loadOlder: () => Promise<void>
  /** The id of a message or of a call that is to be shown first. */
  readonly target: string | undefined
}

interface MessageScroll {
  readonly virtualizer: Virtualizer<HTMLElement, Element>
  readonly isAtEnd: boolean
  readonly onScroll: () => void
  readonly jumpToLatest: () => void
}

const nearEndPx = 80
/** About a screen ahead, so that a reader who scrolls up seldom waits. */
const nearTopPx = 800

/**
 * The scroll position belongs to the reader: it follows new text only from the end, is kept when older messages are
 * added above, and moves to the end by itself only when the reader sends a message.
 */
export function useMessageScroll(options: MessageScrollOptions): MessageScroll {
  const { scroller, rows, hasOlder, loadOlder, target } = options
  const [isAtEnd, setAtEnd] = useState(true)
  const isPlaced = useRef(false)
  // The virtualizer mutates its result in place, so nothing that uses it may be memoised.
  // oxlint-disable-next-line react/incompatible-library
  const virtualizer = useVirtualizer<HTMLElement, Element>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateRow(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 6,
    paddingStart: 12,
    paddingEnd: 20,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: nearEndPx,
  })

  // By default nothing is corrected while scrolling up; but the text being read is below the rows that are measured.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, _, { scrollOffset }) =>
    item.start < (scrollOffset ?? 0)

  const wanted = target === undefined ? -1 : findRow(rows, target)
  const isFetchingTarget = target !== undefined && wanted === -1 && hasOlder
  useLayoutEffect(() => {
    if (isPlaced.current || rows.length === 0 || isFetchingTarget) return
    isPlaced.current = true
    if (wanted === -1) virtualizer.scrollToEnd()
    else virtualizer.scrollToIndex(wanted, { align: 'start' })
  }, [virtualizer, rows.length, wanted, isFetchingTarget])
  // In strict mode a list is unmounted and mounted again once: it has to be positioned again.
  useLayoutEffect(
    () => () => {
      isPlaced.current = false
    },
    [],
  )

  const [fill] = useState(createFiller)
  useEffect(() => {
    const isWanted = () =>
      isPlaced.current && (scroller.current?.scrollTop ?? Number.POSITIVE_INFINITY) < nearTopPx
    return fill.watch({ isWanted: () => hasOlder && (isFetchingTarget || isWanted()), loadOlder })
  }, [fill, scroller, hasOlder, isFetchingTarget, loadOlder, rows.length])

  const size = virtualizer.getTotalSize()
  const [place] = useState(createHeldPlace)
  useEffect(
    () => (scroller.current === null ? undefined : place.watch(scroller.current)),
    [scroller, place],
  )
  useLayoutEffect(() => {
    if (scroller.current !== null) place.restore(scroller.current)
  }, [scroller, place, size])
  // A list that shrinks may reach its end without a scroll.
  useEffect(() => {
    if (isNearEnd(scroller.current)) setAtEnd(true)
  }, [scroller, size])

  // Elements that grow below the list (the queue, attached files, a phone's keyboard) must not cover the end that is
  // being read, nor a field of the list that somebody writes in.
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    let height = element.clientHeight
    const observer = new ResizeObserver(() => {
      const { clientHeight, scrollHeight, scrollTop } = element
      const wasAtEnd = scrollHeight - height - scrollTop < nearEndPx
      const isLess = clientHeight < height
      height = clientHeight
      if (!isLess || !isPlaced.current) return
      const field = fieldWithFocus(element)
      if (field !== null) field.scrollIntoView({ block: 'nearest' })
      else if (wasAtEnd) virtualizer.scrollToEnd()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller, virtualizer])

  const last = rows.at(-1)
  const written = last?.kind === 'pending' ? last.key : undefined
  useEffect(() => {
    if (written === undefined) return
    place.letGo()
    virtualizer.scrollToEnd()
  }, [virtualizer, place, written])

  return {
    virtualizer,
    isAtEnd,
    onScroll() {
      setAtEnd(isNearEnd(scroller.current))
      fill.check()
    },
    jumpToLatest() {
      place.letGo()
      virtualizer.scrollToEnd()
    },
  }
}

const fieldWithFocus = (list: HTMLElement): Element | null => {
  const { activeElement } = document
  return list.contains(activeElement) && activeElement?.matches('input, textarea, select') === true
    ? activeElement
    : null
}

const isNearEnd = (element: HTMLElement | null): boolean =>
  element === null || element.scrollHeight - element.clientHeight - element.scrollTop < nearEndPx
