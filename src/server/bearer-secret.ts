import { createHash, timingSafeEqual } from 'node:crypto'

/** Whether a request has `Authorization: Bearer <secret>`. */
export function hasBearer(headers: Headers, secret: string): boolean {
  const given = /^Bearer +(.+)$/i.exec(headers.get('authorization') ?? '')?.[1]
  // Hashed, so that the time reveals neither the length nor the first wrong character.
  return given !== undefined && timingSafeEqual(hash(given), hash(secret))
}

const hash = (text: string): Buffer => createHash('sha256').update(text).digest()
