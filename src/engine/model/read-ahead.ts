/** The most items that are read before the consumer takes them: enough for what arrives while a commit is in flight. */
const mostAhead = 1_000

/**
 * Reads a source as fast as it produces. A stream that fails drops its queued items, so a consumer that reads each item
 * only after the previous one has been stored would lose the last items before the failure.
 */
export async function* readAhead<Item>(source: AsyncIterable<Item>): AsyncGenerator<Item, void> {
  const iterator = source[Symbol.asyncIterator]()
  const items: Item[] = []
  let end: { readonly error?: unknown } | null = null
  const closed = new AbortController()
  let changed = Promise.withResolvers<void>()
  const change = () => {
    changed.resolve()
    changed = Promise.withResolvers()
  }
  const pump = async () => {
    try {
      for (;;) {
        while (items.length >= mostAhead && !closed.signal.aborted) await changed.promise
        if (closed.signal.aborted) return
        const read = await iterator.next()
        if (read.done === true) break
        items.push(read.value)
        change()
      }
      end = {}
    } catch (error) {
      end = { error }
    }
    change()
  }
  void pump()
  try {
    for (;;) {
      while (items.length > 0) {
        yield items.shift() as Item
        change()
      }
      const over = end as { readonly error?: unknown } | null
      if (over === null) await changed.promise
      else if ('error' in over) throw over.error
      else return
    }
  } finally {
    closed.abort()
    change()
    // Cancels the producer; its result is not awaited, because nothing is read any more.
    iterator.return?.().catch(() => undefined)
  }
}
