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
export const portionsOf = <Item>(items: readonly Item[]): Iterable<readonly Item[]> =>
  items.length <= itemsAtOnce ? [items] : cutPortions(items)

function* cutPortions<Item>(items: readonly Item[]): Generator<readonly Item[]> {
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

/** `toSorted`, in portions: a stable sort by merging, each pass of which pauses. */
export function* sortInSteps<Item>(
  items: readonly Item[],
  compare: (left: Item, right: Item) => number,
): PausableWork<readonly Item[]> {
  let runs: (readonly Item[])[] = []
  for (let from = 0; from < items.length; from += sortedAtOnce) {
    runs.push(items.slice(from, from + sortedAtOnce).toSorted(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: (readonly Item[])[] = []
    for (let nth = 0; nth < runs.length; nth += 2) {
      merged.push(yield* mergeRuns(runs[nth] ?? [], runs[nth + 1] ?? [], compare))
    }
    runs = merged
  }
  return runs[0] ?? []
}

/** Sorted within a millisecond. */
const sortedAtOnce = 1_024

function* mergeRuns<Item>(
  left: readonly Item[],
  right: readonly Item[],
  compare: (left: Item, right: Item) => number,
): PausableWork<readonly Item[]> {
  const merged: Item[] = []
  let [l, r] = [0, 0]
  while (l < left.length || r < right.length) {
    const [first, second] = [left[l], right[r]]
    // At equal places that of the left run is first: the sort is stable.
    const isLeft =
      r === right.length || (l < left.length && compare(first as Item, second as Item) <= 0)
    merged.push((isLeft ? first : second) as Item)
    if (isLeft) l++
    else r++
    if (merged.length % itemsAtOnce === 0) yield
  }
  return merged
}
