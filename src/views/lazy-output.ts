import type { Call, CallOutput } from '../core/call.ts'
import type { Json } from '../core/json.ts'

/** Where the whole result of a call can be fetched that a page left out. */
export type LazyHref = (call: Call) => string

export interface LazyOptions {
  /** Where a result that was left out can be fetched. @default it says how long it is, and not where */
  readonly lazyHref?: LazyHref
}

export const lazyKey = 'holdfast:lazy'

/** The result as every view shows it: the value, or what stands for one that was left out (PG7). */
export function projectOutput(output: CallOutput, href?: string): Json {
  if (output.kind === 'inline') return output.value
  return { [lazyKey]: href === undefined ? { bytes: output.bytes } : { bytes: output.bytes, href } }
}
