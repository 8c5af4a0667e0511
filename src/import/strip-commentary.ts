/**
 * Takes the commentary of the calls out of the start of old content (LE3). Only where it stands at
 * the start, one after the other: the same words further on are part of the answer.
 */
export function stripCommentary(content: string, commentary: readonly string[]): string {
  let rest = content
  for (const text of commentary) {
    const said = text.trim()
    const end = said === '' ? 0 : endOf(said, rest)
    if (end === 0 || !endsThere(said, rest.slice(end))) continue
    rest = rest.slice(end).trimStart()
  }
  return rest
}

/** Where these words end that the content begins with; 0 if it does not. White space may differ. */
function endOf(said: string, content: string): number {
  let end = skipSpace(content, 0)
  for (let at = 0; at < said.length;) {
    if (isSpace(said, at)) {
      if (!isSpace(content, end)) return 0
      at = skipSpace(said, at)
      end = skipSpace(content, end)
    } else if (said[at++] !== content[end++]) return 0
  }
  return end
}

const isSpace = (text: string, at: number): boolean => /\s/.test(text[at] ?? '')

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text, at)) at++
  return at
}

/** "I" is not at the start of "It is 18 °C"; "Looking" is at that of "LookingIt is", glued together. */
function endsThere(said: string, rest: string): boolean {
  const isInWord = /[\p{L}\p{N}]$/u.test(said) && /^[\p{L}\p{N}]/u.test(rest)
  return !isInWord || (/\p{Ll}$/u.test(said) && /^\p{Lu}/u.test(rest))
}
