import { toStreamResponse } from '../engine/sse.ts'
import type { ServerContext } from './context.ts'

/** What a connection takes at once, whoever is at its other end. */
const small = 65_536
const encoder = new TextEncoder()

/** An answer that may be large: it counts for its owner until it has been taken (OP7a). */
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
