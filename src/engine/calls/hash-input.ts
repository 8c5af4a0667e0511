import type { Json } from '../../core/json.ts'

/** Identifies the arguments that were decided on (AP7): the SHA-256 of the arguments as JSON text. */
export async function hashInput(input: Json): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(input))
  const digest = await crypto.subtle.digest('SHA-256', bytes)
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
