import type { Seq } from '../core/ids.ts'

/** Phase one asks for this many places, so that it knows whether there is more. */
export const placesToRead = (limit: number): number => limit + 1

export interface PageEdges {
  /** The places of the page, newest first. */
  readonly places: readonly Seq[]
  readonly hasMore: boolean
}

/**
 * Phase one of a page (PG1): from the places of user messages and turns alone, newest first, which
 * of them are on it. Everything inside a turn comes with it, so a call and its result are never
 * apart, and a turn is one unit however many calls it has.
 */
export function planPage(places: readonly Seq[], limit: number): PageEdges {
  return { places: places.slice(0, limit), hasMore: places.length > limit }
}
