/** To write or to encode a text of this length takes a millisecond or two. */
export const longChars = 1_000_000

/**
 * The text of `JSON.stringify`, in pieces between which others can have their turn (OP7): each long string is a piece of
 * its own. A message of AI SDK 4 contains its text twice, and all of it in one piece took twice as long.
 */
export function* jsonPieces(value: unknown, long = longChars): Generator<string, void> {
  if (typeof value !== 'object' || value === null || !hasLongText(value, long)) {
    yield JSON.stringify(value)
  } else if (Array.isArray(value)) {
    yield* listPieces(value, long)
  } else {
    yield* fieldPieces(value, long)
  }
}

function* listPieces(list: readonly unknown[], long: number): Generator<string, void> {
  let before = '['
  for (const item of list) {
    yield before
    yield* jsonPieces(item ?? null, long)
    before = ','
  }
  yield ']'
}

function* fieldPieces(object: object, long: number): Generator<string, void> {
  let before = '{'
  for (const [key, item] of Object.entries(object)) {
    if (item === undefined) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* jsonPieces(item, long)
    before = ','
  }
  yield '}'
}

function hasLongText(value: unknown, long: number): boolean {
  if (typeof value === 'string') return value.length >= long
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => hasLongText(item, long))
  for (const key in value) {
    if (hasLongText((value as Readonly<Record<string, unknown>>)[key], long)) return true
  }
  return false
}
