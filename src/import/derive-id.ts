const prime = 0x100000001b3n
const offset = 0xcbf29ce484222325n
const mask = 0xffffffffffffffffn

/**
 * An id for something that came without one. It depends on nothing but where the thing stands, so
 * reading the same data again gives the same id (LE5). FNV-1a, 64 bits: no secret, only a name.
 */
export function deriveId(prefix: 'msg' | 'call', ...place: readonly (string | number)[]): string {
  const text = JSON.stringify(place)
  let hash = offset
  for (let index = 0; index < text.length; index++) {
    hash = ((hash ^ BigInt(text.charCodeAt(index))) * prime) & mask
  }
  return `${prefix}_${hash.toString(16).padStart(16, '0')}`
}
