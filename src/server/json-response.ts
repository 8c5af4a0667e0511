import { nextTurn, systemClock } from '../engine/clock.ts'
import { type ByteMeter, createByteStream, toReadable } from '../engine/follow/byte-stream.ts'
import type { ServerContext } from './context.ts'
import { jsonPieces, longChars } from './json-pieces.ts'

/** A connection's buffers take this much at once, however slow the client is. */
const small = 65_536
const encoder = new TextEncoder()

/** A response that may be large: it counts for its owner until it has been consumed (OP7a). */
export async function toJsonResponse(
  { inFlight }: ServerContext,
  ownerId: string,
  value: unknown,
  status = 200,
): Promise<Response> {
  const pieces = await encodePieces(value)
  const length = pieces.reduce((sum, piece) => sum + piece.byteLength, 0)
  const headers = { 'content-type': 'application/json' }
  // So short a text is one piece.
  if (length <= small) return new Response(pieces[0], { status, headers })
  const meter = inFlight.meterOf(ownerId)
  const source = () => deliver(pieces, meter)
  const body = toReadable(createByteStream(source, { meter, onClose: () => {} }))
  return new Response(body, {
    status,
    headers: { ...headers, 'content-length': String(length) },
  })
}

/** Others have their turn before and after a long text is encoded, which takes as long as to write it (OP7). */
async function encodePieces(value: unknown): Promise<Uint8Array<ArrayBuffer>[]> {
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let text = ''
  for (const piece of jsonPieces(value)) {
    if (piece.length < longChars) {
      text += piece
      continue
    }
    if (text !== '') pieces.push(encoder.encode(text))
    text = ''
    await nextTurn(systemClock)
    pieces.push(encoder.encode(piece))
    await nextTurn(systemClock)
  }
  if (text !== '') pieces.push(encoder.encode(text))
  return pieces
}

/** All pieces are in memory from the first one on, so each counts until it was taken. */
async function* deliver(pieces: Uint8Array[], meter: ByteMeter): AsyncGenerator<Uint8Array, void> {
  for (const piece of pieces) meter.hold(piece)
  try {
    for (;;) {
      const [piece] = pieces
      if (piece === undefined) return
      yield piece
      pieces.shift()
      meter.release(piece)
    }
  } finally {
    for (const piece of pieces) meter.release(piece)
  }
}
