import { leaveString, type StringScan } from '../core/json-depth.ts'
import type { Json } from '../core/json.ts'
import { createPacer } from '../store/pacer.ts'
import { notUtf8, whyNotUtf8 } from './decode-text.ts'
import { parseSource, tooManyMembers } from './parse-source.ts'

/** The text is not JSON from here on. */
export class JsonFault extends Error {
  override readonly name = 'JsonFault'
}

interface Scan extends StringScan {
  depth: number
}

/**
 * Parses a JSON text that arrives in pieces, value by value. The caller decides which containers to walk and
 * which to read whole, so one value is held in memory, not the document.
 */
export class JsonReader {
  /** A source that is in memory never leaves the microtask queue, and a value of megabytes is many pieces of it. */
  readonly #pace = createPacer()
  readonly #pieces: AsyncIterator<string>
  /** The most characters of a value that is read whole. */
  readonly mostChars: number
  #text = ''
  #at = 0
  #line = 1
  #isOver = false
  #skipped = ''

  constructor(pieces: AsyncIterator<string>, mostChars = Number.POSITIVE_INFINITY) {
    this.#pieces = pieces
    this.mostChars = mostChars
  }

  /** Why the last value was skipped that was. */
  get skipped(): string {
    return this.#skipped
  }

  /** The line of the current position. */
  get line(): number {
    return this.#line + countLines(this.#text, this.#at)
  }

  /** The next character that is not white space, without consuming it; '' at the end. */
  async peek(): Promise<string> {
    for (;;) {
      while (this.#at < this.#text.length) {
        const char = this.#text[this.#at] as string
        if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return char
        this.#at++
      }
      if (!(await this.#more())) return ''
    }
  }

  async consume(char: string): Promise<boolean> {
    if ((await this.peek()) !== char) return false
    this.#at++
    return true
  }

  async expect(char: string): Promise<void> {
    if (!(await this.consume(char))) throw await this.fault(`"${char}" is missing`)
  }

  async fault(what: string): Promise<JsonFault> {
    const isCut = (await this.peek()) === ''
    return new JsonFault(
      isCut ? `the file ends in the middle (line ${this.line})` : `${what} (line ${this.line})`,
    )
  }

  /**
   * The text of the next value, complete by its brackets and quotes; null where it is longer than `mostChars` and was
   * skipped: a text cannot be parsed in slices, and all of the value is held (OP7).
   */
  async readText(): Promise<string | null> {
    const first = await this.peek()
    if (first === '' || ',:]}'.includes(first)) throw await this.fault('a value is missing')
    const scan: Scan = { at: 0, depth: 0, inString: false }
    const pieces: string[] = []
    let chars = 0
    this.#drop()
    while (!scanValue(this.#text, scan)) {
      // Collected in an array: a string that grows by each piece would be copied once per piece.
      chars += this.#text.length
      if (chars <= this.mostChars) pieces.push(this.#text)
      scan.at -= this.#text.length
      this.#at = this.#text.length
      this.#drop()
      if (await this.#more()) continue
      if (scan.inString || scan.depth > 0) throw await this.fault('')
      break
    }
    this.#at = Math.min(scan.at, this.#text.length)
    if (chars + this.#at > this.mostChars) return this.#skip(tooLong(this.mostChars))
    pieces.push(this.#text.slice(0, this.#at))
    // Whoever reads a long value parses it next, which takes as long.
    if (pieces.length > 1) await this.#pace()
    return pieces.join('')
  }

  /**
   * The next value: null where `readText` skips it, or it has an object with too many members, and an undefined `value` where
   * it is not JSON.
   */
  async readValue(): Promise<{ readonly value: Json | undefined } | null> {
    const text = await this.readText()
    if (text === null) return null
    const found = await parseSource(text, this.mostChars, this.#pace)
    if (found.kind === 'too-wide') return this.#skip(tooManyMembers)
    if (found.kind === 'value') return { value: found.value }
    return text.includes(notUtf8) ? this.#skip(whyNotUtf8) : { value: undefined }
  }

  #skip(why: string): null {
    this.#skipped = why
    return null
  }

  /** The rest of the text, in pieces. */
  async *rest(): AsyncGenerator<string> {
    do {
      yield this.#text.slice(this.#at)
      this.#at = this.#text.length
    } while (await this.#more())
  }

  async #more(): Promise<boolean> {
    if (this.#isOver) return false
    await this.#pace()
    const next = await this.#pieces.next()
    if (next.done === true) {
      this.#isOver = true
      return false
    }
    this.#drop()
    this.#text += next.value
    return true
  }

  #drop(): void {
    this.#line += countLines(this.#text, this.#at)
    this.#text = this.#text.slice(this.#at)
    this.#at = 0
  }
}

/** The error text for a value that was skipped. */
export const tooLong = (most: number): string =>
  `It is longer than ${most} characters, which is the most that is taken here. "holdfast import" takes it.`

/** True once the value is complete; `at` is then its end. May be called again with more text. */
function scanValue(text: string, scan: Scan): boolean {
  for (; scan.at < text.length; scan.at++) {
    if (scan.inString) {
      if (!leaveString(text, scan)) return false
      if (scan.depth === 0) return advance(scan)
      continue
    }
    const char = text.charCodeAt(scan.at)
    switch (char) {
      case quote:
        scan.inString = true
        break
      case openBrace:
      case openBracket:
        scan.depth++
        break
      case closeBrace:
      case closeBracket:
        if (scan.depth === 0) return true
        scan.depth--
        if (scan.depth === 0) return advance(scan)
        break
      default:
        if (scan.depth === 0 && (char === comma || char <= space)) return true
    }
  }
  return false
}

function advance(scan: Scan): true {
  scan.at++
  return true
}

function countLines(text: string, end: number): number {
  // Only up to `end`: a search through the rest of a long line for each value would be quadratic.
  const read = text.slice(0, end)
  let lines = 0
  for (let at = read.indexOf('\n'); at !== -1; at = read.indexOf('\n', at + 1)) lines++
  return lines
}

const [quote, openBrace, closeBrace] = [0x22, 0x7b, 0x7d] as const
const [openBracket, closeBracket, comma, space] = [0x5b, 0x5d, 0x2c, 0x20] as const
