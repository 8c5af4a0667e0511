/** The most characters that are printed of a thrown value that has no message. */
const longest = 1_000
const deepestCause = 4
/** An error may contain a whole response of another server; it is stored, logged and sent to the model (OP7). */
const longestText = 10_000

/** The beginning of an error text that is longer than anybody reads. */
export const cutErrorText = (text: string): string =>
  text.length <= longestText ? text : `${text.slice(0, longestText).toWellFormed()} …`

/**
 * A readable text for anything that was thrown: errors, strings, JSON bodies of other servers, null. Empty
 * where there is nothing readable: never "[object Object]", "undefined" or "null".
 */
export function errorTextOfThrown(thrown: unknown): string {
  try {
    return cutErrorText(describe(thrown, 0))
  } catch {
    // A getter or a proxy that throws has no readable text.
    return ''
  }
}

/**
 * The thrown value itself if its fields can be read, or else an `Error` in its place. A proxy or a getter
 * that throws would throw again in the code that reports the failure, and that report would be lost.
 */
export function toReadableThrown(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown
  try {
    const seen = thrown as Readonly<Record<string | symbol, unknown>>
    // Reads every field that this code or the AI SDK reads of an error; the symbol stands for the SDK's
    // marker symbols.
    const read = [thrown instanceof Error, Symbol.for('vercel.ai.error') in seen]
    for (const field of errorFields) read.push(seen[field] === undefined)
    return read.length > 0 && `${String(seen['message'])}${String(seen['stack'])}` !== ''
      ? withReadableCause(thrown, seen['cause'])
      : thrown
  } catch {
    return new Error(errorTextOfThrown(thrown) || 'The thrown value cannot be read.')
  }
}

const errorFields = [
  'message',
  'name',
  'stack',
  'cause',
  'code',
  'errors',
  'error',
  'statusCode',
  'responseBody',
  'responseHeaders',
  'issues',
  Symbol.for('vercel.ai.error'),
] as const

/** The chain of causes is read later too, so each cause has to be readable. */
function withReadableCause(thrown: object, cause: unknown, depth = 0): unknown {
  if (typeof cause !== 'object' || cause === null || depth > deepestCause) return thrown
  for (const field of errorFields) void (cause as Readonly<Record<string | symbol, unknown>>)[field]
  void (cause instanceof Error)
  return withReadableCause(thrown, (cause as { readonly cause?: unknown }).cause, depth + 1)
}

function describe(thrown: unknown, depth: number): string {
  switch (typeof thrown) {
    case 'string':
      return describeText(thrown, depth)
    case 'number':
    case 'bigint':
      return String(thrown)
    case 'symbol':
      return thrown.description ?? ''
    case 'object':
      return thrown === null || depth > deepestCause ? '' : describeObject(thrown, depth + 1)
    default:
      return ''
  }
}

/**
 * Servers answer with JSON, and clients use that text as the error's message: the message inside it is the
 * one to show.
 */
function describeText(text: string, depth: number): string {
  const readable = toReadable(text)
  if (!readable.startsWith('{') || depth > deepestCause || readable.length > 10 * longest)
    return readable
  let value: unknown
  try {
    value = JSON.parse(readable)
  } catch {
    return readable
  }
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown }
  return describe(message, depth + 1) || describe(error, depth + 1) || readable
}

function describeObject(thrown: object, depth: number): string {
  const { message, errors, cause, name, error } = thrown as Readonly<Record<string, unknown>>
  const own = describe(message, depth)
  if (thrown instanceof AggregateError && Array.isArray(errors)) {
    const all = [own, ...errors.slice(0, 5).map((one) => describe(one, depth))]
    return [...new Set(all)].filter((text) => text !== '').join('; ')
  }
  if (own !== '') return own
  if (thrown instanceof Error) return describe(cause, depth) || toReadable(String(name))
  return describe(error, depth) || toReadable(toText(thrown))
}

/** Texts that `String` makes of objects carry no information, wherever they come from. */
const toReadable = (text: string): string => {
  const trimmed = text.trim()
  return /^(\[object \w+\]|undefined|null|\{\}|\[\])$/.test(trimmed) ? '' : trimmed
}

function toText(thrown: object): string {
  const text: unknown = JSON.stringify(thrown)
  if (typeof text !== 'string') return ''
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`
}
