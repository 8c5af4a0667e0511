import { createPacer } from '../store/pacer.ts'

/**
 * The text of a stream of bytes, expanded piece by piece into any number of items. It fails only after everything before the
 * fault was read, so that a turn keeps it: a `TransformStream` that fails drops what nobody has read yet.
 */
export function expandText<Item>(
  bytes: ReadableStream<Uint8Array>,
  expand: (text: string) => AsyncIterable<Item>,
  end: () => AsyncIterable<Item>,
): ReadableStream<Item> {
  const reader = bytes.getReader()
  const decoder = new TextDecoder()
  const pace = createPacer()
  const expandAll = async function* () {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      yield* expand(decoder.decode(value, { stream: true }))
      // What a fast backend has sent is all there already, and would be read without a pause (OP7).
      const pause = pace()
      if (pause !== undefined) await pause
    }
    yield* expand(decoder.decode())
    yield* end()
  }
  const items = expandAll()
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        try {
          const { done, value } = await items.next()
          if (done === true) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          // Nothing more is wanted of the source. Not awaited, and its failure is nobody's: this one is reported.
          void reader.cancel(error).catch(() => undefined)
          throw error
        }
      },
      // Not the generator's end: that would wait for a source that has stalled.
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
