/** No calendar goes further, either way. */
export const furthestMs = 8.64e15

/** A date as every format writes it. A number that no calendar has is brought to the edge of one. */
export function toIsoDate(ms: number): string {
  return new Date(Math.min(Math.max(ms, -furthestMs), furthestMs)).toISOString()
}
