import { deepestJson } from '../core/json-depth.ts'
import { endOfPlain } from '../core/partial-json.ts'

/**
 * The longest prefix of a JSON text that every parser of partial JSON reads alike. AI SDK clients get
 * arguments as text and parse them by their own rules, which guess at a number or a literal that is still
 * arriving and return nothing for invalid text. So the prefix ends before a number, a literal or an escape
 * that may continue, before half of a surrogate pair, and before anything that is not JSON. It only grows as
 * the text does.
 */
export function certainPrefix(text: string): string {
  return text.slice(0, new PrefixScanner(text).scan())
}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[ \t\r\n,\]}])/y
const word = /true|false|null/y
const escape = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
/** A client refuses an object with such a key as a whole. */
const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor'])

type Expectation = 'value' | 'first-item' | 'first-key' | 'key' | 'colon' | 'next'

class PrefixScanner {
  readonly #text: string
  #at = 0
  #certain = 0
  #expects: Expectation = 'value'
  readonly #closers: ('}' | ']')[] = []

  constructor(text: string) {
    this.#text = text
  }

  scan(): number {
    while (this.#at < this.#text.length && this.#step()) this.#certain = this.#at
    return this.#certain
  }

  /** Reads one token that is certain; false if the next one is not, or not yet. */
  #step(): boolean {
    const char = this.#text[this.#at] as string
    if (' \t\r\n'.includes(char)) return this.#advance(1, this.#expects)
    switch (this.#expects) {
      case 'colon':
        return char === ':' && this.#advance(1, 'value')
      case 'first-key':
      case 'key':
        if (char === '}' && this.#expects === 'first-key') return this.#close(char)
        return char === '"' && this.#string('colon')
      case 'next':
        if (char === ',' && this.#closers.length > 0) {
          return this.#advance(1, this.#closers.at(-1) === '}' ? 'key' : 'value')
        }
        return this.#close(char)
      case 'first-item':
        return char === ']' ? this.#close(char) : this.#value(char)
      default:
        return this.#value(char)
    }
  }

  #value(char: string): boolean {
    if (char === '"') return this.#string('next')
    if (char === '{' || char === '[') {
      if (this.#closers.length === deepestJson) return false
      this.#closers.push(char === '{' ? '}' : ']')
      return this.#advance(1, char === '{' ? 'first-key' : 'first-item')
    }
    const length = this.#match(/[a-z]/.test(char) ? word : number)
    if (length === 0 || !this.#isOver(char, length)) return false
    return this.#advance(length, 'next')
  }

  /**
   * Whether what follows the value can follow it here, and so belongs to the prefix too: a number at the very end of the prefix
   * may continue for some parsers, and not for others.
   */
  #isOver(first: string, length: number): boolean {
    if (/[a-z]/.test(first)) return true
    const after = this.#text[this.#at + length] ?? ''
    const closer = this.#closers.at(-1)
    return (
      ' \t\r\n'.includes(after) || (closer !== undefined && (after === ',' || after === closer))
    )
  }

  #close(char: string): boolean {
    if (char !== this.#closers.at(-1)) return false
    this.#closers.pop()
    return this.#advance(1, 'next')
  }

  #string(then: Expectation): boolean {
    const start = this.#at
    this.#at += 1
    this.#certain = this.#at
    while (true) {
      const char = this.#text[this.#at]
      if (char === undefined || char < ' ') return false
      if (char === '"') break
      const isEscape = char === '\\'
      const end = endOfPlain(this.#text, this.#at)
      const length = isEscape ? this.#match(escape) : end - this.#at
      if (length === 0) return false
      this.#at += length
      if (!this.#endsInHalfPair(isEscape, length)) this.#certain = this.#at
      else if (!isEscape && length > 1) this.#certain = this.#at - 1
    }
    const key = then === 'colon' ? this.#text.slice(start + 1, this.#at) : ''
    if (refusedKeys.has(key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key)) return false
    return this.#advance(1, then)
  }

  /** Whether the `length` characters that were read last, an escape or plain ones, end in the first half of a surrogate pair. */
  #endsInHalfPair(isEscape: boolean, length: number): boolean {
    return isEscape
      ? length === 6 && /[dD][89abAB]/.test(this.#text.slice(this.#at - 4, this.#at - 2))
      : /[\ud800-\udbff]/.test(this.#text[this.#at - 1] ?? '')
  }

  #match(pattern: RegExp): number {
    pattern.lastIndex = this.#at
    return pattern.exec(this.#text)?.[0].length ?? 0
  }

  #advance(by: number, then: Expectation): boolean {
    this.#at += by
    this.#expects = then
    return true
  }
}
