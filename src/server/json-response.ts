import { toStreamResponse } from '../engine/follow/sse.ts'
import type { ServerContext } from './context.ts'

/** A connection's buffers take this much at once, however slow the client is. */
const small = 65_536
const encoder = new TextEncoder()

/** A response that may be large: it counts for its owner until it has been consumed (OP7a). */
export function toJsonResponse(
  { inFlight }: ServerContext,
  ownerId: string,
  value: unknown,
): Response {
  const bytes = encoder.encode(JSON.stringify(value))
  const headers = { 'content-type': 'application/json' }
  if (bytes.length <= small) return new Response(bytes, { headers })
  return toStreamResponse(
    async function* () {
      yield bytes
    },
    {
      headers: { ...headers, 'content-length': String(bytes.length) },
      meter: inFlight.meterOf(ownerId),
      onClose: () => {},
    },
  )
}
