import type { Call, EndedCall } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { type LazyHref, projectOutput } from './lazy-output.ts'
import { errorTextOf } from './wording.ts'

/** Where formats have what a call had given when it was broken off. */
export const partialResultKey = 'partialResult'

/**
 * What a call gave, for formats that know results but no errors: one that did not succeed gives an
 * object with `error` and, where it had given something before it was broken off, `partialResult`;
 * nothing else. `judgeCall` is the way back.
 */
export function projectResultValue(call: EndedCall, lazyHref?: LazyHref): Json {
  if (call.state === 'succeeded') return projectOutput(call.output, lazyHref?.(call))
  const error = errorTextOf(call)
  const partial = partialResultOf(call)
  return partial === undefined ? { error } : { error, [partialResultKey]: partial }
}

/** `isError: false` on a success that would be taken for a failure in such a format. */
export function errorMarkOf(call: Call): { readonly isError?: false } {
  if (call.state !== 'succeeded' || call.output.kind !== 'inline') return {}
  const { value } = call.output
  if (!isJsonObject(value) || typeof value.error !== 'string') return {}
  return Object.keys(value).every((key) => key === 'error' || key === partialResultKey)
    ? { isError: false }
    : {}
}

/** A call keeps it beside its end, with what the provider says of the result. */
export const toPartialMetadata = (partial: Json): JsonObject => ({
  holdfast: { [partialResultKey]: partial },
})

export function partialResultOf(call: Call): Json | undefined {
  const own = call.resultProviderMetadata?.['holdfast']
  return isJsonObject(own) && call.state !== 'succeeded' ? own[partialResultKey] : undefined
}
