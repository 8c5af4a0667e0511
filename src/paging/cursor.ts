import { HoldfastError } from '../core/holdfast-error.ts'

/**
 * An opaque place in a list: where the page before ended, and a fingerprint of the list it belongs
 * to, so that a cursor of another thread is refused instead of silently giving another place (PG4).
 */
export function toCursor(list: string, place: number): string {
  return `${place.toString(36)}-${fingerprint(`${list}\n${place}`)}`
}

export function parseCursor(list: string, cursor: string): number {
  const [place, print, ...rest] = cursor.split('-')
  const value = Number.parseInt(place ?? '', 36)
  const isPlace = Number.isSafeInteger(value) && value > 0 && value.toString(36) === place
  if (!isPlace || rest.length > 0 || print !== fingerprint(`${list}\n${value}`)) {
    throw new HoldfastError(
      'bad-cursor',
      'This cursor is malformed or belongs to another list. Start again without one.',
    )
  }
  return value
}

/** FNV-1a: not a secret, only a mark that a mixed-up or mistyped cursor does not carry. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  }
  return (hash >>> 0).toString(36)
}
