import { fingerprint } from '../core/fingerprint.ts'
import { HoldfastError } from '../core/holdfast-error.ts'

/** The position of an entry in a list: whole numbers from the coarsest to the finest, the first from 1. */
export type Place = readonly number[]

/**
 * An opaque cursor: the position where the page before ended, and a fingerprint of the list it belongs to, so
 * that a cursor of another thread is refused instead of silently pointing to a wrong position (PG4).
 */
export const toCursor = (list: string, place: number): string =>
  toPlaceCursor(list, { place: [place] })

/** `nextCursor` of the last page is null: handed back, it means the first page, as no cursor does. */
export function withCursor<Parsed>(
  cursor: string | null | undefined,
  parse: (cursor: string) => Parsed,
): Parsed | null {
  if (cursor === undefined || cursor === null) return null
  if (typeof cursor !== 'string') throw badCursor()
  return parse(cursor)
}

export function parseCursor(list: string, cursor: string): number {
  const [place, ...rest] = parsePlaceCursor(list, cursor).place
  if (place === undefined || rest.length > 0) throw badCursor()
  return place
}

export interface PlaceCursor {
  readonly place: Place
  /** Identifies the history of the list that the position belongs to (OP6). */
  readonly history?: string
}

/** The same for a position of several numbers, with an optional history. */
export function toPlaceCursor(list: string, { place, history }: PlaceCursor): string {
  const written = place.map((number) => number.toString(36)).join('.')
  const parts = history === undefined ? [written] : [written, history]
  return [...parts, fingerprint(`${list}\n${parts.join('-')}`)].join('-')
}

export function parsePlaceCursor(list: string, cursor: string): PlaceCursor {
  const [written = '', ...rest] = cursor.split('-')
  const place = written.split('.').map((text) => Number.parseInt(text, 36))
  const isPlace = place.every((number, index) => isPlaceNumber(number, index === 0 ? 1 : 0))
  const [history] = rest
  const parsed = rest.length === 2 && history !== undefined ? { place, history } : { place }
  if (!isPlace || toPlaceCursor(list, parsed) !== cursor) throw badCursor()
  return parsed
}

const isPlaceNumber = (value: number, least: number): boolean =>
  Number.isSafeInteger(value) && value >= least

/** Below 0: the left one comes first. A position that is a prefix of another comes before it. */
export function comparePlaces(left: Place, right: Place): number {
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

const badCursor = (): HoldfastError =>
  new HoldfastError(
    'bad-cursor',
    'This cursor is malformed or belongs to another list. Start again without one.',
  )

/** How many entries a page has by default. */
export const defaultLimit = 25
const mostEntries = 200

/** PG5: a limit outside 1–200 is refused, never silently changed. */
export function parseLimit(value: unknown, name = 'limit'): number {
  const limit = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (
    typeof limit !== 'number' ||
    !Number.isSafeInteger(limit) ||
    limit < 1 ||
    limit > mostEntries
  ) {
    throw new HoldfastError('bad-limit', `"${name}" is a whole number from 1 to ${mostEntries}.`)
  }
  return limit
}
