import type { Step, TextPart } from '../core/message.ts'

/** The text that a reader has seen of a step, in order. */
export const shownTextOf = (step: Step): string =>
  step.parts.flatMap((part) => (isText(part) ? [part.text] : [])).join('')

const isText = (part: Step['parts'][number]): part is TextPart => part.type === 'text'

const mostLastWords = 80

/** The last words of a text, whole ones if it has any that end there. */
export function lastWordsOf(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length <= mostLastWords) return trimmed
  const end = trimmed.slice(-mostLastWords)
  const space = end.search(/\s/)
  const words = space === -1 ? end : end.slice(space).trimStart()
  // Half a character at the front is none that could be repeated.
  return /^[\uDC00-\uDFFF]/.test(words) ? words.slice(1) : words
}

/** How the sentence begins that asks for more of an answer that was broken off. */
export const carryOnBeginning = 'Your answer above was broken off by a technical fault.'

/** Asks the model to go on from what was shown of its answer (AG8). That it repeats the end shows that it does. */
export const toCarryOnWords = (shown: string): string =>
  `${carryOnBeginning} Carry on with it: begin by repeating its last words exactly as they are, and go on from there in the same ` +
  `sentence. Do not begin anew, and say nothing about the interruption. Its last words are:\n${lastWordsOf(shown)}`
