/** How much of a thing that was thrown is written out where it has no words of its own. */
const longest = 1_000
const deepestCause = 4

/**
 * What was thrown, in words. Programs throw errors, strings, answers of other servers, null and worse; what comes out
 * is what a person can read, or nothing: never "[object Object]", "undefined" or "null".
 */
export function errorTextOfThrown(thrown: unknown): string {
  try {
    return describe(thrown, 0)
  } catch {
    // A getter or a proxy that fails, too, says nothing.
    return ''
  }
}

/**
 * What was thrown, as it is if it can be looked at, or else as an error that can. A proxy, or a getter that throws,
 * would otherwise throw again wherever it is asked what it is, and take down what has to say that something failed.
 */
export function toReadableThrown(thrown: unknown): unknown {
  if ((typeof thrown !== 'object' && typeof thrown !== 'function') || thrown === null) return thrown
  try {
    const seen = thrown as Readonly<Record<string | symbol, unknown>>
    // All that is ever asked of an error, here and by the AI SDK; the symbol stands for its marks.
    const asked = [thrown instanceof Error, Symbol.for('vercel.ai.error') in seen]
    for (const field of errorFields) asked.push(seen[field] === undefined)
    return asked.length > 0 && `${String(seen['message'])}${String(seen['stack'])}` !== ''
      ? withReadableCause(thrown, seen['cause'])
      : thrown
  } catch {
    return new Error(errorTextOfThrown(thrown) || 'What was thrown cannot be looked at.')
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

/** Causes are walked along, too. */
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

/** Servers answer with JSON, and clients make its text their message: then what it says inside is meant. */
function describeText(text: string, depth: number): string {
  const said = toReadable(text)
  if (!said.startsWith('{') || depth > deepestCause || said.length > 10 * longest) return said
  let value: unknown
  try {
    value = JSON.parse(said)
  } catch {
    return said
  }
  const { message, error } = value as { readonly message?: unknown; readonly error?: unknown }
  return describe(message, depth + 1) || describe(error, depth + 1) || said
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

/** What `String` makes of an object is not a word about it, wherever it comes from. */
const toReadable = (text: string): string => {
  const trimmed = text.trim()
  return /^(\[object \w+\]|undefined|null|\{\}|\[\])$/.test(trimmed) ? '' : trimmed
}

function toText(thrown: object): string {
  const text: unknown = JSON.stringify(thrown)
  if (typeof text !== 'string') return ''
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}…`
}
