import { isTurn, type Message, type UserPart } from '../core/message.ts'

/**
 * What of a message can be searched for: what a person wrote, what an answer says, and what joined it while it was made
 * (IN3), in the order it stands there. No results of tools.
 */
export function searchTextOf(message: Message): string {
  if (!isTurn(message)) return textsOf(message.parts).join('\n')
  return message.steps
    .filter((step) => step.status !== 'abandoned')
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      if (part.type === 'steering') return textsOf(part.parts)
      return part.type === 'text' ? [part.text] : []
    })
    .join('\n')
}

const textsOf = (parts: readonly UserPart[]): readonly string[] =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))

/** Of a text so many different words can be found: a message of a million characters is not worth more. */
const mostWords = 20_000
const longestWord = 64
/** So much of it is looked at: what a stranger imports may be many times longer, and is read on a thread that others need. */
const longestText = 1_000_000

/** Letters and digits. What is written without spaces between words is taken letter by letter. */
const wordPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|(?:(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])[\p{L}\p{N}\p{M}])+/gu

/** Without case and accents, each once. Every store and every query uses these, so all find the same. */
export function toSearchWords(text: string): readonly string[] {
  const words = new Set<string>()
  // Most words of a text have been in it before: made plain once, not each time.
  const seen = new Set<string>()
  for (const [found] of text.slice(0, longestText).matchAll(wordPattern)) {
    if (seen.has(found)) continue
    seen.add(found)
    for (const word of normalize(found)) words.add(word)
    if (words.size >= mostWords) break
  }
  return [...words]
}

function normalize(word: string): readonly string[] {
  if (/^[A-Za-z0-9]+$/.test(word)) return [word.toLowerCase().slice(0, longestWord)]
  const plain = word.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '')
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((part) =>
    Array.from(part).slice(0, longestWord).join(''),
  )
}

/** What is searched for: all of these words, of which the last may be the beginning of one. */
export interface SearchTerms {
  readonly words: readonly string[]
  /** The beginning of a word. Null where the last word is whole: something stands after it, or it is a single letter. */
  readonly prefix: string | null
}

const mostTerms = 16

/** Null: there is no word in it. */
export function parseSearchTerms(query: string): SearchTerms | null {
  const words = toSearchWords(query).slice(0, mostTerms)
  const last = words.at(-1)
  if (last === undefined) return null
  const isOpen = /[\p{L}\p{N}\p{M}]$/u.test(query) && Array.from(last).length > 1
  return isOpen ? { words: words.slice(0, -1), prefix: last } : { words, prefix: null }
}

/** Whether a text with these words is found. */
export function matchesTerms(words: ReadonlySet<string>, terms: SearchTerms): boolean {
  const { prefix } = terms
  if (!terms.words.every((word) => words.has(word))) return false
  return prefix === null || [...words].some((word) => word.startsWith(prefix))
}

/** A piece of a text around what was found, and where in the piece that stands, as `[start, end]` in UTF-16 units. */
export interface SearchSnippet {
  readonly snippet: string
  readonly ranges: readonly (readonly [number, number])[]
}

const before = 48
const longest = 200

/** Around the first hit. Plain text on one line: whoever shows it marks the ranges. */
export function toSnippet(text: string, terms: SearchTerms): SearchSnippet {
  const line = text.slice(0, longestText).replaceAll(/\s+/g, ' ').trim()
  const misses = new Set<string>()
  const isHit = (found: string) => {
    if (misses.has(found)) return false
    const hits = normalize(found).some(
      (word) =>
        terms.words.includes(word) || (terms.prefix !== null && word.startsWith(terms.prefix)),
    )
    if (!hits) misses.add(found)
    return hits
  }
  const hits: (readonly [number, number])[] = []
  let from = 0
  for (const match of line.matchAll(wordPattern)) {
    if (hits.length > 0 && match.index > from + longest) break
    if (!isHit(match[0])) continue
    if (hits.length === 0) from = wordStart(line, match.index)
    hits.push([match.index, match.index + match[0].length])
  }
  const to = Math.min(line.length, wholeEnd(line, from + longest))
  const head = from > 0 ? '…' : ''
  const shift = head.length - from
  return {
    snippet: `${head}${line.slice(from, to)}${to < line.length ? '…' : ''}`,
    ranges: hits
      .filter(([, end]) => end <= to)
      .map(([start, end]) => [start + shift, end + shift] as const),
  }
}

/** Some words before the hit, from the beginning of one. */
function wordStart(line: string, hit: number): number {
  const earliest = Math.max(0, hit - before)
  if (earliest === 0) return 0
  const space = line.indexOf(' ', earliest)
  return space === -1 || space >= hit ? hit : space + 1
}

/** Never between the two halves of a character. */
const wholeEnd = (line: string, end: number): number =>
  /[\uDC00-\uDFFF]/.test(line.charAt(end)) ? end - 1 : end
