/**
 * Takes the commentary of the calls out of the start of old content (LE3). Only where it stands at
 * the start, one after the other: the same words further on are part of the answer.
 */
export function stripCommentary(content: string, commentary: readonly string[]): string {
  let rest = content
  for (const text of commentary) {
    const start = rest.trimStart()
    const said = text.trim()
    if (said === '' || !start.startsWith(said) || !endsThere(said, start.slice(said.length)))
      continue
    rest = start.slice(said.length).trimStart()
  }
  return rest
}

/** "I" is not at the start of "It is 18 °C"; "Looking" is at that of "LookingIt is", glued together. */
function endsThere(said: string, rest: string): boolean {
  const isInWord = /[\p{L}\p{N}]$/u.test(said) && /^[\p{L}\p{N}]/u.test(rest)
  return !isInWord || (/\p{Ll}$/u.test(said) && /^\p{Lu}/u.test(rest))
}
