import { lastWordsOf } from '../../views/carry-on-words.ts'

/**
 * How the text of a new attempt relates to the text that the broken-off attempt had shown. `continues`: it carries
 * on from there, once its first `drop` characters, which were shown before, are removed. `diverges`: it is a
 * different answer.
 */
export type CarryOnVerdict =
  | { readonly kind: 'continues'; readonly drop: number }
  | { readonly kind: 'diverges' }

/** Compares the incoming text with the shown text, delta by delta, ignoring white space. */
export interface CarryOnMatcher {
  /** Null: the text may still turn out to be a repetition, and nothing of it may be shown yet (AG8). */
  add(text: string): CarryOnVerdict | null
  /** The text block is over: another part or the end of the answer follows. */
  finish(): CarryOnVerdict
}

export interface CarryOnOptions {
  /** The text that the broken-off attempt had shown. */
  readonly shown: string
  /**
   * The provider was sent the shown text as the beginning of its own answer, so its output follows directly after
   * it.
   */
  readonly isPrefixed: boolean
}

/** Fewer repeated characters than this may be a coincidence. */
const fewestRepeated = 8
/** An attempt that shares this many characters at its beginning and then differs is the same answer reworded. */
const mostSharedBeginning = 20
/**
 * The same limit when the shown text ends inside a sentence: few sentences continue the way the first one began.
 */
const mostSharedInSentence = 3
const mostRepeatedEnd = 2_000

export function createCarryOnMatcher({ shown, isPrefixed }: CarryOnOptions): CarryOnMatcher {
  const known = squeeze(shown)
  const fewest = Math.min(fewestRepeated, squeeze(lastWordsOf(shown)).length)
  // The positions in `known` where a repetition may begin: models repeat everything, or a word, a sentence or a
  // paragraph at its end. Trying every position would make a text of one repeated letter quadratic.
  const firstOfEnd = Math.max(1, known.length - mostRepeatedEnd)
  let live: readonly number[] = [
    0,
    ...Array.from({ length: Math.max(0, known.length - firstOfEnd) }, (_, at) => firstOfEnd + at),
  ]
  let received = ''
  /** Whether it is not known yet how the received text begins. */
  let isOpening = true
  let length = 0
  /** The longest prefix of `received` that is a suffix of the shown text. */
  let overlap = 0
  /** How many characters of `received` are a prefix of the shown text. */
  let shared = 0

  const advance = (char: string): void => {
    live = live.filter((start) => {
      if (start + length === known.length) overlap = Math.max(overlap, length)
      return known[start + length] === char
    })
    length++
    if (live[0] === 0) shared = length
  }

  const verdict = (): CarryOnVerdict => {
    if (overlap > 0 && overlap >= fewest) return { kind: 'continues', drop: dropOf(overlap) }
    const most = hasEnded(shown) ? mostSharedBeginning : mostSharedInSentence
    if (shared >= Math.min(most, Math.ceil(known.length / 2))) return { kind: 'diverges' }
    return isPrefixed || readsOn(shown, received)
      ? { kind: 'continues', drop: dropOf(0) }
      : { kind: 'diverges' }
  }

  /** The index after this many characters, and after white space that was shown too. */
  const dropOf = (chars: number): number => {
    let at = 0
    for (let left = chars; left > 0; at++) if (!isBlank(received[at] ?? '')) left--
    const shownSpace = shown.slice(shown.trimEnd().length)
    const space = /^\s*/.exec(received.slice(at))?.[0] ?? ''
    if (shownSpace.startsWith(space)) return at + space.length
    return at + (space.startsWith(shownSpace) ? shownSpace.length : 0)
  }

  return {
    add(text) {
      received += text
      isOpening &&= opening.test(text)
      for (const char of squeeze(text).split('')) {
        // Once no candidate position is left, further text is new and need not be compared.
        if (live.length > 0) advance(char)
      }
      return live.length > 0 || isOpening ? null : verdict()
    },
    finish() {
      // The attempt contained only what was already shown, or nothing.
      if (length === 0 || live[0] === 0) return { kind: 'continues', drop: received.length }
      if (live.some((start) => start + length === known.length)) overlap = length
      return verdict()
    },
  }
}

const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
const isBlank = (char: string): boolean => /^\s$/.test(char)

/** The end of a sentence, with the closing punctuation after it. */
const sentenceEnd = /[.!?…:;。！？：；]["'”’»)\]*_`]*$/
/** A line without a word. */
const bareLine = /^[\s"'“‘«([*_`#>|\d.-]*$/
/** At the end of a sentence or a line. In linear time: no expression here may try white space from each of its places. */
const hasEnded = (text: string): boolean =>
  sentenceEnd.test(text.trimEnd()) || bareLine.test(text.slice(text.lastIndexOf('\n') + 1))
/** Characters before the first word of a sentence, a heading or a list: they do not show yet how it begins. */
const opening = /^[\s"'“‘«([*_`#>-]*$/
const begun = /^[\s"'“‘«([*_`#>-]*\p{Lu}/u

/**
 * The model was asked to continue, so its text is taken for a continuation, unless it begins a new sentence where
 * the shown one had not ended: both together would be nonsense.
 */
const readsOn = (shown: string, received: string): boolean =>
  hasEnded(shown) || !begun.test(received)
