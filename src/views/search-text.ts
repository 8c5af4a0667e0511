import { isTurn, type Message, type UserPart } from '../core/message.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'

/**
 * The searchable text of a message: a person's text, the text of an answer, and the inputs that joined it
 * (IN3), in their order. Results of tools are not searchable.
 */
export const searchTextOf = (message: Message): string =>
  searchableTexts(message)
    .map(({ text }) => text)
    .join('\n')

interface SearchableText {
  readonly role: Message['role']
  readonly text: string
}

function searchableTexts(message: Message): readonly SearchableText[] {
  if (!isTurn(message)) return textsOf(message.parts, message.role)
  return message.steps
    .filter((step) => step.status !== 'abandoned')
    .flatMap(({ parts }) => parts)
    .flatMap((part) => {
      if (part.type === 'steering') return textsOf(part.parts, 'user')
      return part.type === 'text' ? [{ role: message.role, text: part.text }] : []
    })
}

const textsOf = (parts: readonly UserPart[], role: Message['role']): readonly SearchableText[] =>
  parts.flatMap((part) => (part.type === 'text' ? [{ role, text: part.text }] : []))

/** The first hit in a message, and whose text it is: in a turn also a person's, whose message joined it (IN3). */
export function* findInMessage(
  message: Message,
  terms: SearchTerms,
): PausableWork<SearchSnippet & { readonly role: Message['role'] }> {
  const found = yield* findSnippet(searchTextOf(message), terms)
  let end = 0
  const hit = searchableTexts(message).find(({ text }) => {
    // As they are joined, with one character between two of them.
    end += text.length + 1
    return found.at !== null && found.at < end
  })
  const { snippet, ranges } = found
  return { snippet, ranges, role: hit?.role ?? message.role }
}

/** The most different words of one text that are indexed: a message of a million characters is not worth more. */
const mostWords = 20_000
/** And the most characters in them: the index of PostgreSQL takes 1 MiB of words for one text. */
const mostWordChars = 300_000
/** No query is longer, so that words are compared as a whole. */
const longestWord = 500
/**
 * The most characters of one text that are read: an import may contain much longer ones, and this runs on the
 * event loop.
 */
const longestText = 1_000_000

const unspaced = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]`
const run = String.raw`(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+`
/** Letters and digits. Scripts without spaces between words are split letter by letter. */
const wordPattern = new RegExp(`${unspaced}|${run}`, 'gu')
const runPattern = new RegExp(`^${run}`, 'u')

/**
 * The most UTF-16 units of a run of letters that are read, and of a text between two pauses. The longest word needs 500
 * letters, of two units each in some scripts, and room for their accents. Not more, because normalising is the slowest
 * step: U+FDFA becomes 18 characters, and 200,000 of them blocked the event loop for 600 ms (OP7).
 */
const longestRun = 2_000

interface Token {
  /** Where it is in the text. */
  readonly index: number
  readonly token: string
}

/**
 * The tokens of a text, in portions between which the work may pause. They are those that `wordPattern` finds in the
 * whole text, except that of a longer run than `longestRun` the rest is skipped.
 */
function* portionsOfTokens(text: string): Generator<readonly Token[]> {
  const end = Math.min(text.length, longestText)
  let isRest = false
  for (let from = 0; from < end;) {
    const to = Math.min(end, wholeEnd(text, from + longestRun))
    const part = text.slice(from, to)
    if (isRest) {
      from += runPattern.exec(part)?.[0].length ?? 0
      isRest = from === to
      yield []
      continue
    }
    const start = from
    const tokens = Array.from(part.matchAll(wordPattern), ({ index, 0: token }) => ({
      index: start + index,
      token,
    }))
    const last = tokens.at(-1)
    const isCut = to < end && last !== undefined && last.index + last.token.length === to
    isRest = isCut && last.index === from
    from = to
    if (isCut && !isRest) {
      // Read again from its beginning: it may go on after this portion.
      tokens.pop()
      from = last.index
    }
    yield tokens
  }
}

/** Without case and accents, each word once. Every store and every query uses these, so all find the same. */
export function toSearchWords(text: string): readonly string[] {
  return runToEnd(findSearchWords(text))
}

/** The same with pauses: a text may have a million characters (OP7). */
export function* findSearchWords(text: string): PausableWork<readonly string[]> {
  const words = new Set<string>()
  // Most words of a text repeat: each is normalised once.
  const seen = new Set<string>()
  let chars = 0
  for (const tokens of portionsOfTokens(text)) {
    for (const { token } of tokens) {
      if (seen.has(token)) continue
      seen.add(token)
      for (const word of normalize(token)) {
        words.add(word)
        chars += word.length
      }
      if (words.size >= mostWords || chars >= mostWordChars) return [...words]
    }
    yield
  }
  return [...words]
}

/** Of a token that is no longer than `longestRun`. */
function normalize(token: string): readonly string[] {
  if (/^[A-Za-z0-9]+$/.test(token)) return [token.toLowerCase().slice(0, longestWord)]
  const plain = token.normalize('NFKD').toLowerCase().replaceAll(/\p{M}/gu, '')
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).map((part) =>
    part.length <= longestWord ? part : Array.from(part).slice(0, longestWord).join(''),
  )
}

/** The terms of a search: all of these words, of which the last may be the beginning of one. */
export interface SearchTerms {
  readonly words: readonly string[]
  /**
   * The beginning of a word. Null where the last word is complete: another character follows it, or it is a
   * single letter.
   */
  readonly prefix: string | null
}

const mostTerms = 16

/** Null: the query contains no word. */
export function parseSearchTerms(query: string): SearchTerms | null {
  const words = toSearchWords(query).slice(0, mostTerms)
  const last = words.at(-1)
  if (last === undefined) return null
  const isOpen = /[\p{L}\p{N}\p{M}]$/u.test(query) && Array.from(last).length > 1
  return isOpen ? { words: words.slice(0, -1), prefix: last } : { words, prefix: null }
}

/** Whether a text with these words matches. */
export function matchesTerms(words: ReadonlySet<string>, terms: SearchTerms): boolean {
  const { prefix } = terms
  if (!terms.words.every((word) => words.has(word))) return false
  return prefix === null || [...words].some((word) => word.startsWith(prefix))
}

/** An excerpt of a text around the first hit, and the hits in it, as `[start, end]` in UTF-16 units. */
export interface SearchSnippet {
  readonly snippet: string
  readonly ranges: readonly (readonly [number, number])[]
}

const before = 48
const longest = 200
/** What is looked at around the first hit to make an excerpt of it, white space included. */
const around = 2_000

/** The excerpt around the first hit: plain text on one line; the client marks the ranges. */
export const toSnippet = (text: string, terms: SearchTerms): SearchSnippet => {
  const { snippet, ranges } = runToEnd(findSnippet(text, terms))
  return { snippet, ranges }
}

/** The same with pauses, and where in the text the first hit is; null: nowhere. A text may have a million characters. */
function* findSnippet(
  text: string,
  terms: SearchTerms,
): PausableWork<SearchSnippet & { readonly at: number | null }> {
  const isHit = createMatcher(terms)
  let at: number | null = null
  for (const tokens of portionsOfTokens(text)) {
    at = tokens.find(({ token }) => isHit(token))?.index ?? null
    if (at !== null) break
    yield
  }
  const [start, end] = cutAround(text, at ?? 0)
  const line = text.slice(start, end).replaceAll(/\s+/g, ' ').trim()
  const hits: (readonly [number, number])[] = []
  let from = 0
  for (const { index, 0: token } of line.matchAll(wordPattern)) {
    if (hits.length > 0 && index > from + longest) break
    if (!isHit(token)) continue
    if (hits.length === 0) from = wordStart(line, index)
    hits.push([index, index + token.length])
  }
  const to = Math.min(line.length, wholeEnd(line, from + longest))
  const head = start > 0 || from > 0 ? '…' : ''
  const tail = end < text.length || to < line.length ? '…' : ''
  const shift = head.length - from
  return {
    at,
    snippet: `${head}${line.slice(from, to)}${tail}`,
    ranges: hits
      .filter(([first]) => first < to)
      .map(([first, last]) => [first + shift, Math.min(last, to) + shift] as const),
  }
}

function createMatcher(terms: SearchTerms): (token: string) => boolean {
  const { words, prefix } = terms
  // Most words of a text repeat: each is normalised once.
  const misses = new Set<string>()
  return (token) => {
    if (misses.has(token)) return false
    const isHit = normalize(token).some(
      (word) => words.includes(word) || (prefix !== null && word.startsWith(prefix)),
    )
    if (!isHit) misses.add(token)
    return isHit
  }
}

/** Between two words: a part of one could be a hit where the whole is none. */
function cutAround(text: string, at: number): readonly [start: number, end: number] {
  const [first, last] = [Math.max(0, at - around), at + around]
  const space = first === 0 ? 0 : text.slice(first, at).search(/\s/)
  const start = space === -1 ? at : first + space
  if (last >= text.length) return [start, text.length]
  const spaces = [...text.slice(at, last).matchAll(/\s/g)]
  return [start, at + (spaces.at(-1)?.index ?? around)]
}

/** The start of the excerpt: some words before the hit, at the beginning of one. */
function wordStart(line: string, hit: number): number {
  const earliest = Math.max(0, hit - before)
  if (earliest === 0) return 0
  const space = line.indexOf(' ', earliest)
  return space === -1 || space >= hit ? hit : space + 1
}

/** Never between the two halves of a surrogate pair. */
const wholeEnd = (line: string, end: number): number =>
  /[\uDC00-\uDFFF]/.test(line.charAt(end)) ? end - 1 : end
