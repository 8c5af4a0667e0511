import { type Virtualizer, useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { estimateRow } from './estimate-row.ts'
import { createFiller } from './older-filler.ts'
import { findRow, type ThreadRow } from './thread-rows.ts'

interface MessageScrollOptions {
  readonly scroller: RefObject<HTMLElement | null>
  readonly rows: readonly ThreadRow[]
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
/** About a screen ahead, so that who scrolls up seldom waits. */
const nearTopPx = 800

/**
 * The scroll position belongs to the reader: it follows new text only from the end, keeps its place
 * when older messages come in above, and goes to the end by itself only when the reader writes.
 */
export function useMessageScroll(options: MessageScrollOptions): MessageScroll {
  const { scroller, rows, hasOlder, loadOlder, target } = options
  const [isAtEnd, setAtEnd] = useState(true)
  const isPlaced = useRef(false)
  // What it returns changes under the same name, so nothing that takes it is memoised.
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

  // By default nothing is corrected on the way up; but what is being read stands below what is measured.
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
  // In strict mode a list is taken away and put back once: it is then to be placed again.
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

  // What shrinks may end on the screen without anybody having scrolled.
  const size = virtualizer.getTotalSize()
  useEffect(() => {
    if (isNearEnd(scroller.current)) setAtEnd(true)
  }, [scroller, size])

  // What grows below the list (what waits, attached files) must not cover the end that somebody reads.
  useEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    let height = element.clientHeight
    const observer = new ResizeObserver(() => {
      const { clientHeight, scrollHeight, scrollTop } = element
      const wasAtEnd = scrollHeight - height - scrollTop < nearEndPx
      if (clientHeight < height && wasAtEnd && isPlaced.current) virtualizer.scrollToEnd()
      height = clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller, virtualizer])

  const last = rows.at(-1)
  const written = last?.kind === 'pending' ? last.key : undefined
  useEffect(() => {
    if (written !== undefined) virtualizer.scrollToEnd()
  }, [virtualizer, written])

  return {
    virtualizer,
    isAtEnd,
    onScroll() {
      setAtEnd(isNearEnd(scroller.current))
      fill.check()
    },
    jumpToLatest: () => virtualizer.scrollToEnd(),
  }
}

const isNearEnd = (element: HTMLElement | null): boolean =>
  element === null || element.scrollHeight - element.clientHeight - element.scrollTop < nearEndPx
