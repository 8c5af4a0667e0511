import { createByteStream, toReadable } from '../engine/follow/byte-stream.ts'
import type { ServerContext } from './context.ts'

/** A connection's buffers take this much at once, however slow the client is. */
const small = 65_536
const encoder = new TextEncoder()

/** A response that may be large: it counts for its owner until it has been consumed (OP7a). */
export function toJsonResponse(
  { inFlight }: ServerContext,
  ownerId: string,
  value: unknown,
  status = 200,
): Response {
  const bytes = encoder.encode(JSON.stringify(value))
  const headers = { 'content-type': 'application/json' }
  if (bytes.length <= small) return new Response(bytes, { status, headers })
  const source = async function* () {
    yield bytes
  }
  const meter = inFlight.meterOf(ownerId)
  const body = toReadable(createByteStream(source, { meter, onClose: () => {} }))
  return new Response(body, {
    status,
    headers: { ...headers, 'content-length': String(bytes.length) },
  })
}
