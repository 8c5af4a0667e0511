import { createJsonScanner, deepestValue } from '../core/json-depth.ts'
import type { Json, JsonObject } from '../core/json.ts'
import { isTooWide, mostKeys, mostMessageValues } from '../core/json-width.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'

/** What is known of JSON text: its value, or why it has none that may be walked (CL6a, CL6b). */
export type DecodedText =
  | { readonly kind: 'value'; readonly value: Json }
  | { readonly kind: 'not-json' }
  | { readonly kind: 'too-deep' }
  | { readonly kind: 'too-wide' }

/** The columns that are text, as long as their object lives. */
const decoded = new WeakMap<JsonObject, Map<string, DecodedText>>()

/**
 * The first of these fields that is present, decoded if it is a column: a dump of a table has its JSON columns as text.
 * Several readers look at each column of a message. It is decoded once, because a column of megabytes takes as long as the
 * message did (OP7). `undefined` also where the text is not JSON, or too deep or too wide.
 */
export function columnOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some) && object[some] !== null)
  const value = name === undefined ? undefined : object[name]
  if (name === undefined || !isColumnText(value)) return value
  const found = decoded.get(object)?.get(name) ?? keep(object, name, runToEnd(decodeText(value)))
  return found.kind === 'value' ? found.value : undefined
}

/** The same as `columnOf` finds later, in steps: a column may have megabytes. Undefined: it is no text. */
export function* decodeInSteps(
  object: JsonObject,
  name: string,
): PausableWork<DecodedText | undefined> {
  const value = Object.hasOwn(object, name) ? object[name] : undefined
  if (!isColumnText(value)) return undefined
  return decoded.get(object)?.get(name) ?? keep(object, name, yield* decodeText(value))
}

function keep(object: JsonObject, name: string, text: DecodedText): DecodedText {
  const known = decoded.get(object)
  if (known === undefined) decoded.set(object, new Map([[name, text]]))
  else known.set(name, text)
  return text
}

/** A value that is not a field of an object: an entry of a list. */
export const decodeColumn = (value: Json | undefined): Json | undefined =>
  isColumnText(value) ? parseJsonText(value) : value

const isColumnText = (value: Json | undefined): value is string =>
  typeof value === 'string' && /^\s*[[{]/.test(value)

/** JSON text as a value. `undefined`: it is not JSON, or too deep or too wide. */
export function parseJsonText(text: string): Json | undefined {
  const found = runToEnd(decodeText(text))
  return found.kind === 'value' ? found.value : undefined
}

const charsAtOnce = 65_536

/**
 * What is a text in a message has not been checked with the message, and the readers walk its value by recursion. Its levels
 * and keys are counted before it is parsed: to parse 8 MB of brackets takes seconds.
 */
function* decodeText(text: string): PausableWork<DecodedText> {
  if (text.length > 2 * deepestValue && isColumnText(text)) {
    const scan = createJsonScanner()
    for (let at = 0; at < text.length; at += charsAtOnce) {
      const { depth, keys } = scan(text.slice(at, at + charsAtOnce))
      if (depth > deepestValue) return { kind: 'too-deep' }
      if (keys > mostKeys) return { kind: 'too-wide' }
      yield
    }
  }
  const value = parseUnchecked(text)
  if (value === undefined) return { kind: 'not-json' }
  yield
  return isTooWide(value, mostMessageValues) ? { kind: 'too-wide' } : { kind: 'value', value }
}

function parseUnchecked(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json
  } catch {
    return undefined
  }
}

/** The text without what is deeper than a value may be: `null` stands in its place. It is not parsed before. */
export function* cutDeepText(text: string): PausableWork<string> {
  const pieces: string[] = []
  let [depth, from] = [0, 0]
  let [inString, isEscaped] = [false, false]
  for (let at = 0; at < text.length; at++) {
    if (at % charsAtOnce === 0) yield
    const char = text[at]
    if (isEscaped) isEscaped = false
    else if (inString) {
      isEscaped = char === '\\'
      inString = char !== '"'
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') {
      if (depth++ === deepestValue) pieces.push(text.slice(from, at), 'null')
    } else if ((char === '}' || char === ']') && --depth === deepestValue) from = at + 1
  }
  return depth > deepestValue ? '' : [...pieces, text.slice(from)].join('')
}
