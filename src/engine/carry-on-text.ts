import { lastWordsOf } from '../views/carry-on-words.ts'

/**
 * What the text of a new attempt is to the text that the broken one had shown. `continues`: it goes on from there, once
 * so many of its first characters are dropped, because they were shown before. `diverges`: it is another answer.
 */
export type CarryOnVerdict =
  | { readonly kind: 'continues'; readonly drop: number }
  | { readonly kind: 'diverges' }

/** Compares what comes with what was shown, piece by piece; white space counts for nothing. */
export interface CarryOnMatcher {
  /** Null: it may still turn out to be a repetition, and nothing of it may be shown yet (AG8). */
  add(text: string): CarryOnVerdict | null
  /** No more text comes before something else does, or the end. */
  finish(): CarryOnVerdict
}

export interface CarryOnOptions {
  /** What the broken attempt had shown. */
  readonly shown: string
  /** The provider took it as the beginning of its own answer, so what it says stands behind it. */
  readonly isPrefixed: boolean
}

/** Fewer characters in common may be chance. */
const fewestRepeated = 8
/** One that begins so far in the same way and then goes another is the same answer in other words. */
const mostSharedBeginning = 20
/** The same in the middle of a sentence, where few sentences go on as the first one began. */
const mostSharedInSentence = 3
const mostRepeatedEnd = 2_000

export function createCarryOnMatcher({ shown, isPrefixed }: CarryOnOptions): CarryOnMatcher {
  const known = squeeze(shown)
  const fewest = Math.min(fewestRepeated, squeeze(lastWordsOf(shown)).length)
  // Where in `known` a repetition may begin: models repeat everything, or a word, a sentence or a paragraph at its end.
  // Not anywhere: a text of one letter would be compared with itself as often as it is long.
  const firstOfEnd = Math.max(1, known.length - mostRepeatedEnd)
  let live: readonly number[] = [
    0,
    ...Array.from({ length: Math.max(0, known.length - firstOfEnd) }, (_, at) => firstOfEnd + at),
  ]
  let said = ''
  let length = 0
  /** The longest beginning of what is said that is the end of what was shown. */
  let overlap = 0
  /** How far what is said is the beginning of what was shown. */
  let shared = 0

  const take = (char: string): void => {
    live = live.filter((start) => {
      if (start + length === known.length) overlap = Math.max(overlap, length)
      return known[start + length] === char
    })
    length++
    if (live[0] === 0) shared = length
  }

  const verdict = (): CarryOnVerdict => {
    if (overlap > 0 && overlap >= fewest) return { kind: 'continues', drop: dropOf(overlap) }
    const most = ended.test(shown) ? mostSharedBeginning : mostSharedInSentence
    if (shared >= Math.min(most, Math.ceil(known.length / 2))) return { kind: 'diverges' }
    return isPrefixed || readsOn(shown, said)
      ? { kind: 'continues', drop: dropOf(0) }
      : { kind: 'diverges' }
  }

  /** Behind so many characters, and behind white space that was shown too. */
  const dropOf = (chars: number): number => {
    let at = 0
    for (let left = chars; left > 0; at++) if (!isBlank(said[at] ?? '')) left--
    const shownSpace = /\s*$/.exec(shown)?.[0] ?? ''
    const space = /^\s*/.exec(said.slice(at))?.[0] ?? ''
    if (shownSpace.startsWith(space)) return at + space.length
    return at + (space.startsWith(shownSpace) ? shownSpace.length : 0)
  }

  return {
    add(text) {
      said += text
      for (const char of squeeze(text).split('')) {
        // What is new is not compared.
        if (live.length > 0) take(char)
      }
      return live.length > 0 || opening.test(said) ? null : verdict()
    },
    finish() {
      // It said nothing that was not shown, or nothing at all.
      if (length === 0 || live[0] === 0) return { kind: 'continues', drop: said.length }
      if (live.some((start) => start + length === known.length)) overlap = length
      return verdict()
    },
  }
}

const squeeze = (text: string): string => text.replaceAll(/\s+/g, '')
const isBlank = (char: string): boolean => /^\s$/.test(char)

/** What ends a sentence or a line, with whatever closes behind it. */
const ended = /[.!?…:;。！？：；]["'”’»)\]*_`]*\s*$|(?:^|\n)[\s"'“‘«([*_`#>|\d.-]*$/
/** What stands before the first word of a sentence, a heading or a list, and does not tell how it begins. */
const opening = /^[\s"'“‘«([*_`#>-]*$/
const begun = /^[\s"'“‘«([*_`#>-]*\p{Lu}/u

/**
 * It was asked to go on, so it is taken to: unless it begins a sentence where the one that was shown had not ended,
 * and both together would be nonsense.
 */
const readsOn = (shown: string, said: string): boolean => ended.test(shown) || !begun.test(said)
