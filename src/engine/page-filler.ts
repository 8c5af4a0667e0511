import { comparePlaces, type Place } from '../protocol/page-query.ts'

/** What must stand on one page together, such as a call and its results. */
export interface PageSlice<Item> {
  readonly place: Place
  /** In the page's order. None: it is not shown in this list and takes no room. */
  readonly items: readonly Item[]
}

export interface PageFill {
  /** `slices`: each counts one, whatever is in it. `items`: what is shown counts. */
  readonly counts: 'slices' | 'items'
  readonly limit: number
  /** Where the page before ended; null for the first page. */
  readonly after: Place | null
  readonly order: 'newest-first' | 'oldest-first'
}

export interface PageFiller<Item> {
  /** Takes the slices of the list in the page's order; false when it needs no more. */
  add(this: void, slice: PageSlice<Item>): boolean
  /** It takes no more, for another reason than its limit; whether something follows is still to be seen. */
  fill(): void
  readonly items: readonly Item[]
  /** Where the page after this one begins; null when nothing follows that would be shown. */
  readonly next: Place | null
}

/**
 * Fills one page. It is full when the limit is reached, which the last slice may overrun, since a slice
 * is never split; it then waits for one more that shows something, so that a page that says there is
 * more is never followed by an empty one (PG5).
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
      items.push(...slice.items)
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
