import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

/** A piece of code that somebody was given: an artifact, a snippet, a generated file. */
interface Code {
  readonly code: string
  /** Empty where it is not said. */
  readonly language: string
  readonly title?: string
}

/**
 * The code that a payload is, or undefined. A field `code` alone may be anything, such as the number of
 * an error: it is code where a language or kind is said with it, or where it has several lines.
 */
export function codeOf(payload: Json): Code | undefined {
  if (!isJsonObject(payload)) return undefined
  const inner = isJsonObject(payload.artifact) ? payload.artifact : payload
  const { code } = inner
  if (typeof code !== 'string' || code.trim() === '') return undefined
  const language = textOf(inner, 'language') ?? textOf(inner, 'lang')
  const isSaid = language !== undefined || inner !== payload || inner.kind === 'code'
  if (!isSaid && !code.includes('\n')) return undefined
  const title = textOf(inner, 'title') ?? textOf(inner, 'filename') ?? textOf(inner, 'name')
  return title === undefined
    ? { code, language: language ?? '' }
    : { code, language: language ?? '', title }
}

function textOf(value: JsonObject, name: string): string | undefined {
  const found = value[name]
  return typeof found === 'string' && found.trim() !== '' ? found : undefined
}
