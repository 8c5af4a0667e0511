/**
 * Work over a whole thread that yields between its messages, so that its caller can pause it and not block
 * the event loop (OP7). The work itself is pure and reads no clock.
 */
export type PausableWork<Result> = Generator<undefined, Result>

/** Runs all of it at once. */
export function runToEnd<Result>(work: PausableWork<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

/** `map`, message by message. */
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
