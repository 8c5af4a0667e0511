import type { EndedCall } from '../core/call.ts'
import type { Json } from '../core/json.ts'
import { type LazyHref, projectOutput } from './lazy-output.ts'
import { errorTextOf } from './wording.ts'

/**
 * What a call gave, for formats that know results but no errors: one that did not succeed gives an
 * object with `error` and nothing else. `readResultValue` is the way back.
 */
export function projectResultValue(call: EndedCall, lazyHref?: LazyHref): Json {
  return call.state === 'succeeded'
    ? projectOutput(call.output, lazyHref?.(call))
    : { error: errorTextOf(call) }
}
