import type { LargeImport } from './large-imports.ts'
import { pieceBytes, readBody } from './read-json.ts'

const types = /^application\/(json|x-ndjson|jsonl)\s*(;|$)/i

/** A larger body waits for its turn before more of it is read. */
const largeBytes = 4_194_304

/**
 * The whole body of an import, each piece of it once: what has been read is held no longer. It stays bytes until then,
 * because as text it may take twice as much (OP7). Null: there is none.
 */
export async function readImportBody(
  request: Request,
  maxBytes: number,
  place: LargeImport,
): Promise<AsyncIterable<Uint8Array> | null> {
  const held = createHeldBytes()
  const { signal } = place
  const arrive = async (chunk: Uint8Array) => {
    held.add(chunk)
    if (held.bytes > largeBytes) await place.enter()
  }
  const found = await readBody(request, { maxBytes, types, arrive, signal })
  place.hasArrived()
  return found === null ? null : held.take()
}

/** Copied, because what a chunk is a part of may be many times as large, and two bytes that arrive alone take a hundred. */
function createHeldBytes() {
  const pieces: Uint8Array[] = []
  let last = new Uint8Array()
  let room = 0
  let bytes = 0
  return {
    get bytes() {
      return bytes
    },
    add(chunk: Uint8Array) {
      bytes += chunk.byteLength
      for (let at = 0; at < chunk.byteLength;) {
        if (room === 0) {
          last = new Uint8Array(pieceBytes)
          pieces.push(last)
          room = pieceBytes
        }
        const part = chunk.subarray(at, at + room)
        last.set(part, pieceBytes - room)
        room -= part.byteLength
        at += part.byteLength
      }
    },
    async *take(): AsyncGenerator<Uint8Array> {
      const end = pieceBytes - room
      pieces.reverse()
      for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
        yield piece === last ? piece.subarray(0, end) : piece
      }
    },
  }
}
