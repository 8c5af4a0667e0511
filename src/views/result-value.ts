import type { Call, EndedCall } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { type LazyHref, projectOutput } from './lazy-output.ts'
import { errorTextOf } from './call-error-text.ts'

/** The field in which formats have the partial output of a call that was broken off. */
export const partialResultKey = 'partialResult'

/**
 * The result of a call for formats that have results but no errors: a call that did not succeed becomes an
 * object with `error` and, where it had a partial output, `partialResult`; nothing else. `judgeCall` is the
 * inverse.
 */
export function projectResultValue(call: EndedCall, lazyHref?: LazyHref): Json {
  if (call.state === 'succeeded') return projectOutput(call.output, lazyHref?.(call))
  const error = errorTextOf(call)
  const partial = partialResultOf(call)
  return partial === undefined ? { error } : { error, [partialResultKey]: partial }
}

/** `isError: false` on a success that such a format would mistake for a failure. */
export function errorMarkOf(call: Call): { readonly isError?: false } {
  if (call.state !== 'succeeded' || call.output.kind !== 'inline') return {}
  const { value } = call.output
  if (!isJsonObject(value) || typeof value.error !== 'string') return {}
  return Object.keys(value).every((key) => key === 'error' || key === partialResultKey)
    ? { isError: false }
    : {}
}

/** A call keeps its partial output in the provider metadata of its result. */
export const toPartialMetadata = (partial: Json): JsonObject => ({
  holdfast: { [partialResultKey]: partial },
})

export function partialResultOf(call: Call): Json | undefined {
  const own = call.resultProviderMetadata?.['holdfast']
  return isJsonObject(own) && call.state !== 'succeeded' ? own[partialResultKey] : undefined
}
