/** So many items are read before anybody takes them: enough for what comes while a commit is under way. */
const mostAhead = 1_000

/**
 * Reads a source as fast as it speaks. A stream that fails drops whatever was still in its queue, so one
 * that is read only when the item before has been stored would lose what it said last before it failed.
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
    // Whoever makes it is told that nobody reads it any more, and nobody waits for the answer.
    iterator.return?.().catch(() => undefined)
  }
}
