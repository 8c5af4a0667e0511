/** To write or to encode a text of this length takes a millisecond or two. */
export const longChars = 1_000_000

/**
 * The text of `JSON.stringify`, in pieces between which others can have their turn (OP7): each long string is a piece of
 * its own. A message of AI SDK 4 contains its text twice, and all of it in one piece took twice as long.
 */
export function* jsonPieces(value: unknown, long = longChars): Generator<string, void> {
  const holders = new Set<object>()
  findHolders(value, long, holders)
  yield* piecesOf(value, holders)
}

/** Notes the objects that contain a long text, at any depth; true if the value is one, or is or contains such a text. */
function findHolders(value: unknown, long: number, holders: Set<object>): boolean {
  if (typeof value === 'string') return value.length >= long
  if (typeof value !== 'object' || value === null) return false
  let isHolder = false
  for (const item of Object.values(value)) {
    isHolder = findHolders(item, long, holders) || isHolder
  }
  if (isHolder) holders.add(value)
  return isHolder
}

function* piecesOf(value: unknown, holders: ReadonlySet<object>): Generator<string, void> {
  if (typeof value !== 'object' || value === null || !holders.has(value)) {
    yield JSON.stringify(value)
  } else if (Array.isArray(value)) {
    yield* listPieces(value, holders)
  } else {
    yield* fieldPieces(value, holders)
  }
}

function* listPieces(
  list: readonly unknown[],
  holders: ReadonlySet<object>,
): Generator<string, void> {
  let before = '['
  for (const item of list) {
    yield before
    yield* piecesOf(item ?? null, holders)
    before = ','
  }
  yield ']'
}

function* fieldPieces(object: object, holders: ReadonlySet<object>): Generator<string, void> {
  let before = '{'
  for (const [key, item] of Object.entries(object)) {
    if (item === undefined) continue
    yield `${before}${JSON.stringify(key)}:`
    yield* piecesOf(item, holders)
    before = ','
  }
  yield '}'
}
