import { retryWhileStale } from '../../store/retry-while-stale.ts'
import type { Store } from '../../store/store.ts'
import { pauseOf, within } from '../clock.ts'
import type { Engine } from '../engine.ts'

/**
 * How long a writer waits for those of its thread before it. A bound, because one of them may wait for a store that does
 * not respond.
 */
const longestInLineMs = 15_000

/** For each thread, or message, of a store: the last writer that was stale and tries again. */
const linesOf = new WeakMap<Store, Map<string, Promise<unknown>>>()

/**
 * `retryWhileStale` for requests of people, of which hundreds may come for one thread at once. Those that were stale try
 * again one after the other: together, each round would let one of them through, and the last would be refused after a
 * hundred rounds (OP7). Not for a write inside another one of the same thread, which would wait for itself.
 */
export async function retryInLine<Result>(
  { store, clock }: Pick<Engine, 'store' | 'clock'>,
  of: string,
  attempt: () => Promise<Result | 'stale'>,
): Promise<Result> {
  const first = await attempt()
  if (first !== 'stale') return first
  const lines = linesOf.get(store) ?? new Map<string, Promise<unknown>>()
  linesOf.set(store, lines)
  const left = Promise.withResolvers<void>()
  const before = lines.get(of)
  const line = Promise.all([before, left.promise])
  lines.set(of, line)
  try {
    // A writer that takes too long is not waited for any more.
    if (before !== undefined) {
      await within(clock, longestInLineMs, () => before).catch(() => undefined)
    }
    return await retryWhileStale(pauseOf(clock), attempt)
  } finally {
    left.resolve()
    if (lines.get(of) === line) lines.delete(of)
  }
}
