import { isUint8Array } from 'node:util/types'
import { bad } from './check-names.ts'

/** The bytes of a file: all of them, or as they come. */
export type FileContent = Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** How many there are, where that is known before they are read. */
export function sizeOf(content: FileContent): number | undefined {
  if (isUint8Array(content)) return content.byteLength
  return content instanceof Blob ? content.size : undefined
}

/** Whatever gives bytes, piece by piece. What gives none is refused before anything is kept. */
export function toPieces(content: FileContent): AsyncIterable<Uint8Array> {
  if (isUint8Array(content)) return once(content)
  if (content instanceof Blob) return onlyBytes(content.stream())
  if (isObject(content) && Symbol.asyncIterator in content) return onlyBytes(content)
  throw bad(
    '"content" is a Uint8Array, a Blob, a ReadableStream or an AsyncIterable of Uint8Array.',
  )
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

/** A text has as many bytes as its encoding makes of it: whoever has one says which. */
async function* onlyBytes(content: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    if (!isUint8Array(piece)) throw bad('The pieces of "content" are Uint8Array.')
    yield piece
  }
}
