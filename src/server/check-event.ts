import { HoldfastError } from '../core/holdfast-error.ts'
import { createJsonScanner } from '../core/json-depth.ts'
import { isWider, mostWidth, tooWide } from '../core/json-width.ts'
import { createPacer } from '../store/pacer.ts'

/** What a backend sends of its answer at once, by its protocol. */
type Sent = 'an event' | 'a line'

/**
 * The most characters of one event or line, which is held and parsed whole: twice those that a result may have by default,
 * because a text of line feeds, quotes or escaped letters is longer in JSON than it is counted as a result.
 */
export const mostEventChars = 33_554_432

/** More levels than any document may have, because a result that is too deep is kept as text (CL6a). */
const deepestEvent = 1_000
/** Scanned within a millisecond. A text that is no longer has too few keys and levels to be looked at before it is parsed. */
const charsAtOnce = 65_536

const refuse = (words: string): HoldfastError => new HoldfastError('backend', words)

/** Refuses what does not end: it is held until it does. */
export function checkEventChars(chars: number, what: Sent, mostChars: number): void {
  if (chars <= mostChars) return
  throw refuse(`The backend sent ${what} of over ${mostChars.toLocaleString('en-US')} characters.`)
}

/**
 * Refuses JSON text whose parsing would block the event loop for seconds: three million keys took six. It is looked at in
 * slices, between which others have their turn (OP7).
 */
export async function checkEvent(json: string, what: Sent, mostChars: number): Promise<void> {
  checkEventChars(json.length, what, mostChars)
  if (json.length <= charsAtOnce) return
  const scan = createJsonScanner(mostWidth.keys)
  const pace = createPacer()
  for (let at = 0; at < json.length; at += charsAtOnce) {
    const shape = scan(json.slice(at, at + charsAtOnce))
    if (shape.depth > deepestEvent) {
      const levels = deepestEvent.toLocaleString('en-US')
      throw refuse(`The backend sent ${what} that is nested deeper than ${levels} levels.`)
    }
    if (isWider(shape, mostWidth)) {
      throw refuse(`The backend sent ${what} with ${tooWide}.`)
    }
    const pause = pace()
    if (pause !== undefined) await pause
  }
}
