import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'

/** Code in a result: an artifact, a snippet, a generated file. */
interface Code {
  readonly code: string
  /** Empty if unknown. */
  readonly language: string
  readonly title?: string
}

/**
 * The code in a payload, or undefined. A field `code` alone may be anything, such as an error number: it counts as code
 * if a language or kind is given with it, or if it has several lines.
 */
export function codeOf(payload: Json): Code | undefined {
  if (!isJsonObject(payload)) return undefined
  const inner = isJsonObject(payload.artifact) ? payload.artifact : payload
  const { code } = inner
  if (typeof code !== 'string' || code.trim() === '') return undefined
  const language = textOf(inner, 'language') ?? textOf(inner, 'lang')
  const isDeclared = language !== undefined || inner !== payload || inner.kind === 'code'
  if (!isDeclared && !code.includes('\n')) return undefined
  const title = textOf(inner, 'title') ?? textOf(inner, 'filename') ?? textOf(inner, 'name')
  return title === undefined
    ? { code, language: language ?? '' }
    : { code, language: language ?? '', title }
}

function textOf(value: JsonObject, name: string): string | undefined {
  const found = value[name]
  return typeof found === 'string' && found.trim() !== '' ? found : undefined
}
