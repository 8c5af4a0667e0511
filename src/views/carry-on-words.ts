import type { Step, TextPart } from '../core/message.ts'

/** The text of a step that readers have seen, in order. */
export const shownTextOf = (step: Step): string =>
  step.parts.flatMap((part) => (isText(part) ? [part.text] : [])).join('')

const isText = (part: Step['parts'][number]): part is TextPart => part.type === 'text'

const mostLastWords = 80

/** The end of a text, cut at the beginning of a word if possible. */
export function lastWordsOf(text: string): string {
  const trimmed = text.trim()
  if (trimmed.length <= mostLastWords) return trimmed
  const end = trimmed.slice(-mostLastWords)
  const space = end.search(/\s/)
  const words = space === -1 ? end : end.slice(space).trimStart()
  // Half of a surrogate pair at the front could not be repeated by a model.
  return /^[\uDC00-\uDFFF]/.test(words) ? words.slice(1) : words
}

/** The beginning of the sentence that asks for the rest of an answer that was broken off. */
export const carryOnBeginning = 'Your answer above was broken off by a technical fault.'

/**
 * Asks the model to continue after the text that was shown of its answer (AG8). The repeated end proves that
 * it does.
 */
export const toCarryOnWords = (shown: string): string =>
  `${carryOnBeginning} Carry on with it: begin by repeating its last words exactly as they are, and go on from there in the same ` +
  `sentence. Do not begin anew, and say nothing about the interruption. Its last words are:\n${lastWordsOf(shown)}`
