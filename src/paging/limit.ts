import { HoldfastError } from '../core/holdfast-error.ts'

export const defaultLimit = 25
const most = 200

/** PG5: a limit outside 1–200 is refused, never quietly changed. */
export function parseLimit(value: unknown, name = 'limit'): number {
  const limit = typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1 || limit > most) {
    throw new HoldfastError('bad-limit', `"${name}" is a whole number from 1 to ${most}.`)
  }
  return limit
}
