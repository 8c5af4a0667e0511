/** The most items that are read before the consumer takes them: enough for what arrives while a commit is in flight. */
const mostAhead = 1_000

/**
 * Reads a source as fast as it produces. A stream that fails drops its queued items, so a consumer that reads each item
 * only after the previous one has been stored would lose the last items before the failure.
 *
 * `left`: nothing more is wanted. It cancels the source at once, also while it is silent; `return` of a generator would wait
 * for what it reads.
 */
export async function* readAhead<Item>(
  source: AsyncIterable<Item>,
  left: AbortSignal,
): AsyncGenerator<Item, void> {
  const iterator = open(source)
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
  const close = () => {
    if (closed.signal.aborted) return
    closed.abort()
    end ??= {}
    change()
    // Cancels the producer; its result is not awaited, because nothing is read any more. Inside of an async function, because
    // an iterator of the host application may throw at once.
    const cancel = async () => iterator.return?.()
    cancel().catch(() => undefined)
  }
  left.addEventListener('abort', close, { once: true })
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
    left.removeEventListener('abort', close)
    close()
  }
}

/** The iterator of a stream ends it only after the read that is under way, which may never end. */
function open<Item>(source: AsyncIterable<Item>): AsyncIterator<Item> {
  if (!(source instanceof ReadableStream)) return source[Symbol.asyncIterator]()
  const reader = (source as ReadableStream<Item>).getReader()
  return {
    next: () => reader.read() as Promise<IteratorResult<Item>>,
    return: async () => {
      const cancelled = reader.cancel()
      // Nothing is read any more from here on, whatever the source still does: the stream is its host's again.
      reader.releaseLock()
      await cancelled
      return { done: true, value: undefined }
    },
  }
}
