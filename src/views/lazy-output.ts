import type { Call, CallOutput } from '../core/call.ts'
import type { Json } from '../core/json.ts'

/** The URL of the complete result of a call, where a page left it out. */
export type LazyHref = (call: Call) => string

/** Options of views that may show results that were left out. */
export interface LazyOptions {
  /** The URL of a result that was left out. @default only its size is shown */
  readonly lazyHref?: LazyHref
}

export const lazyKey = 'holdfast:lazy'

/** The result as every view shows it: the value, or the placeholder of one that was left out (PG7). */
export function projectOutput(output: CallOutput, href?: string): Json {
  if (output.kind === 'inline') return output.value
  return { [lazyKey]: href === undefined ? { bytes: output.bytes } : { bytes: output.bytes, href } }
}
