import { appendAll } from '../../core/append-all.ts'
import { comparePlaces, type Place } from '../../protocol/page-query.ts'

/** Items that must be on one page together, such as a call and its results. */
export interface PageSlice<Item> {
  readonly place: Place
  /** In the page's order. Empty: it is not shown in this list and does not count. */
  readonly items: readonly Item[]
}

export interface PageFill {
  /** `slices`: each slice counts as one. `items`: each item counts. */
  readonly counts: 'slices' | 'items'
  readonly limit: number
  /** Where the previous page ended; null for the first page. */
  readonly after: Place | null
  readonly order: 'newest-first' | 'oldest-first'
}

export interface PageFiller<Item> {
  /** Adds a slice of the list in the page's order; false when no more are needed. */
  add(this: void, slice: PageSlice<Item>): boolean
  /** Ends the page for another reason than its limit; whether something follows is still to be found out. */
  fill(): void
  readonly items: readonly Item[]
  /** Where the next page begins; null when nothing visible follows. */
  readonly next: Place | null
}

/**
 * Fills one page. It is full when the limit is reached, which the last slice may exceed, since a slice is never split.
 * It then waits for one more visible slice, so that a page with `hasMore` is never followed by an empty one (PG5).
 */
export function createPageFiller<Item>(fill: PageFill): PageFiller<Item> {
  const { counts, limit, after, order } = fill
  const items: Item[] = []
  let count = 0
  let last: Place | null = null
  let hasMore = false
  const isAfter = (place: Place): boolean => {
    if (after === null) return true
    const difference = comparePlaces(place, after)
    return order === 'newest-first' ? difference < 0 : difference > 0
  }
  return {
    add(slice) {
      if (slice.items.length === 0 || !isAfter(slice.place)) return true
      if (count >= limit) {
        hasMore = true
        return false
      }
      appendAll(items, slice.items)
      count += counts === 'slices' ? 1 : slice.items.length
      last = slice.place
      return true
    },
    fill() {
      count = limit
    },
    items,
    get next() {
      return hasMore ? last : null
    },
  }
}
