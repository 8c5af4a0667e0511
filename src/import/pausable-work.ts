/**
 * Work over a whole thread that yields between its messages, so that whoever runs it on a main thread
 * that others need may let them go first (OP7). The work itself is pure and knows nothing of time.
 */
export type PausableWork<Result> = Generator<undefined, Result>

/** All of it at once. */
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
