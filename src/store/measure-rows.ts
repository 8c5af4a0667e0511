import type { CallId } from '../core/ids.ts'
import { largestTurnBytes, type ResultMode } from './store.ts'
import type { CallRow } from './turn-snapshot.ts'

/** The approximate size of a message or an event as JSON, and its results that were left out. */
export interface Measured {
  readonly bytes: number
  readonly omitted: readonly CallRow[]
}

export const isOmitted = (row: CallRow): boolean => row.output === null && row.outputBytes !== null

/** The results that a read of this kind has to load (OP7). */
export function largeOutputs({ bytes, omitted }: Measured, results: ResultMode): readonly CallId[] {
  if (results === 'lazy' || results === 'none' || omitted.length === 0) return []
  const isLarge = bytes + bytesLeftOut(omitted) > largestTurnBytes
  return results === 'bounded' && isLarge ? [] : omitted.map(({ callId }) => callId)
}

const bytesLeftOut = (omitted: readonly CallRow[]): number =>
  omitted.reduce((sum, { outputBytes }) => sum + (outputBytes ?? 0), 0)

/** The first item and those after it that fit, with the calls whose results are still to be loaded. */
export function fitBytes(
  sizes: readonly Measured[],
  results: ResultMode,
  maxBytes: number,
): { readonly count: number; readonly ids: readonly CallId[]; readonly bytes: number } {
  const ids: CallId[] = []
  let total = 0
  for (const [index, size] of sizes.entries()) {
    const wanted = largeOutputs(size, results)
    const bytes = size.bytes + (wanted.length === 0 ? 0 : bytesLeftOut(size.omitted))
    if (index > 0 && total + bytes > maxBytes) return { count: index, ids, bytes: total }
    total += bytes
    ids.push(...wanted)
  }
  return { count: sizes.length, ids, bytes: total }
}

export const measureCalls = (own: number, calls: readonly CallRow[]): Measured => ({
  bytes: calls.reduce(
    (sum, { input, output, modelOutput }) =>
      sum + (input?.length ?? 0) + (output?.length ?? 0) + (modelOutput?.length ?? 0),
    own,
  ),
  omitted: calls.filter(isOmitted),
})
