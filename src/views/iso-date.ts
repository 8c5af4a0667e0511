/** The range of a JavaScript date, in both directions. */
export const furthestMs = 8.64e15

/** A date as every format writes it. A number out of range is clamped. */
export function toIsoDate(ms: number): string {
  return new Date(Math.min(Math.max(ms, -furthestMs), furthestMs)).toISOString()
}
