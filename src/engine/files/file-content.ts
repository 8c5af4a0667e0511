import { isUint8Array } from 'node:util/types'
import { badRequestFault } from '../../core/holdfast-error.ts'

/** The bytes of a file: all at once, or as a stream. */
export type FileContent = Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** The number of bytes, where it is known before they are read. */
export function sizeOf(content: FileContent): number | undefined {
  if (isUint8Array(content)) return content.byteLength
  return content instanceof Blob ? content.size : undefined
}

/** The content as a sequence of byte chunks. Content that is not bytes is refused before anything is stored. */
export function toPieces(content: FileContent): AsyncIterable<Uint8Array> {
  if (isUint8Array(content)) return once(content)
  if (content instanceof Blob) return onlyBytes(content.stream())
  if (isObject(content) && Symbol.asyncIterator in content) return onlyBytes(content)
  throw badRequestFault(
    '"content" is a Uint8Array, a Blob, a ReadableStream or an AsyncIterable of Uint8Array.',
  )
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

async function* once(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

/** Strings are refused: how many bytes they have depends on their encoding, which only the caller knows. */
async function* onlyBytes(content: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of content) {
    if (!isUint8Array(piece)) throw badRequestFault('The pieces of "content" are Uint8Array.')
    yield piece
  }
}
