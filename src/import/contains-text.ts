import type { PausableWork } from '../core/pausable-work.ts'

const charsAtOnce = 65_536

/**
 * Whether a text contains another, in time that grows with both (Knuth, Morris and Pratt): `includes` takes minutes where a
 * long text nearly fits at every place (OP7).
 */
export function* containsText(text: string, part: string): PausableWork<boolean> {
  if (part.length > text.length) return false
  const borders = yield* findBorders(part)
  let fits = 0
  for (let at = 0; at < text.length; at++) {
    if (fits === part.length) return true
    if (at % charsAtOnce === 0) yield
    const char = text.charCodeAt(at)
    while (fits > 0 && part.charCodeAt(fits) !== char) fits = borders[fits - 1] as number
    if (part.charCodeAt(fits) === char) fits++
  }
  return fits === part.length
}

/** For each place of a text, how many characters before it and at it are also those at its start. */
function* findBorders(text: string): PausableWork<Int32Array> {
  const borders = new Int32Array(text.length)
  let border = 0
  for (let at = 1; at < text.length; at++) {
    if (at % charsAtOnce === 0) yield
    const char = text.charCodeAt(at)
    while (border > 0 && text.charCodeAt(border) !== char) border = borders[border - 1] as number
    if (text.charCodeAt(border) === char) border++
    borders[at] = border
  }
  return borders
}
