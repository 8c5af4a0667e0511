/**
 * Work that yields between its pieces, so that its caller can pause it and not block the event loop (OP7): between the
 * messages of a thread, and within a turn of thousands of calls. The work itself is pure and reads no clock.
 */
export type PausableWork<Result> = Generator<undefined, Result>

/** Runs all of it at once. */
export function runToEnd<Result>(work: PausableWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** Runs so many steps of it; undefined: it goes on after them. */
export function runSteps<Result>(work: PausableWork<Result>, most: number): Result | undefined {
  for (let step = 0; step < most; step++) {
    const { done, value } = work.next()
    if (done === true) return value
  }
  return undefined
}

/** So many small items are worked on between two pauses: asking after each would cost more than the item. */
const itemsAtOnce = 64

/** A list in portions of small items; a short list is one portion, itself. */
export function* portionsOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length <= itemsAtOnce) {
    yield items
    return
  }
  for (let from = 0; from < items.length; from += itemsAtOnce) {
    yield items.slice(from, from + itemsAtOnce)
  }
}

/** `map`, item by item. */
export function* mapInSteps<Item, Result>(
  items: readonly Item[],
  toResult: (item: Item, index: number) => Result,
): PausableWork<Result[]> {
  const results: Result[] = []
  for (const [index, item] of items.entries()) {
    results.push(toResult(item, index))
    yield
  }
  return results
}
