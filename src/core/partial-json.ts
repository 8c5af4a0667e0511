import type { Json } from './json.ts'
import { deepestJson, isDeeperThan } from './json-depth.ts'

/**
 * Parses as much of a JSON text as is certain. A string, array or object that is cut off is returned as far
 * as it goes; a number or a literal at the very end is left out, because it may continue (`3.1` may become
 * `3.14`). So the value only grows as the text does. `undefined`: nothing is certain yet. Of a text that is
 * not a prefix of any JSON, the part before the error is returned.
 */
export function parsePartialJson(text: string): Json | undefined {
  try {
    const value = JSON.parse(text) as Json
    if (typeof value !== 'number' && !isDeeperThan(value, deepestJson)) return value
  } catch {
    // Cut off, invalid or too deep: parsed by hand below.
  }
  return new PartialReader(text).read()
}

const literals: readonly (readonly [string, Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
]
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

const numeral = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Where the characters of a string end that stand for themselves: at a quote, a backslash, what no string may contain, or the end. */
export function endOfPlain(text: string, from: number): number {
  let at = from
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22 || code === 0x5c || code < 0x20) break
  }
  return at
}

/** Plain assignment would run the setter of `__proto__`; JSON.parse makes a property of it. Any other is assigned, in a tenth of the time. */
function define(object: Record<string, Json>, key: string, value: Json): void {
  if (key !== '__proto__') object[key] = value
  else {
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(object, key, property)
  }
}

/** Once the text ran out or was invalid, every container above closes where it is. */
class PartialReader {
  readonly #text: string
  #at = 0
  #done = true

  constructor(text: string) {
    this.#text = text
  }

  read(): Json | undefined {
    return this.#value(0)
  }

  #value(depth: number): Json | undefined {
    this.#skipSpace()
    const char = this.#text[this.#at]
    if (char === undefined || depth > deepestJson) return this.#stop()
    if (char === '"') return this.#string()
    if (char === '[') return this.#array(depth)
    if (char === '{') return this.#object(depth)
    if (!/[a-z]/.test(char)) return this.#number()
    for (const [word, value] of literals) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    }
    return this.#stop()
  }

  #array(depth: number): Json {
    const items: Json[] = []
    this.#at++
    this.#skipSpace()
    if (this.#consume(']')) return items
    while (true) {
      const item = this.#value(depth + 1)
      if (item !== undefined) items.push(item)
      if (!this.#done) return items
      this.#skipSpace()
      if (this.#consume(']')) return items
      if (!this.#consume(',')) {
        this.#stop()
        return items
      }
    }
  }

  #object(depth: number): Json {
    const object: Record<string, Json> = {}
    this.#at++
    this.#skipSpace()
    if (this.#consume('}')) return object
    while (true) {
      this.#skipSpace()
      const key = this.#text[this.#at] === '"' ? this.#string() : this.#stop()
      if (!this.#done || key === undefined) return object
      this.#skipSpace()
      if (!this.#consume(':')) {
        this.#stop()
        return object
      }
      const value = this.#value(depth + 1)
      if (value !== undefined) define(object, key, value)
      if (!this.#done) return object
      this.#skipSpace()
      if (this.#consume('}')) return object
      if (!this.#consume(',')) {
        this.#stop()
        return object
      }
    }
  }

  #string(): string {
    let value = ''
    this.#at++
    while (true) {
      const char = this.#text[this.#at]
      if (char === undefined || char < ' ') return this.#cutString(value)
      if (char !== '"' && char !== '\\') {
        const from = this.#at
        this.#at = endOfPlain(this.#text, from)
        value += this.#text.slice(from, this.#at)
        continue
      }
      this.#at++
      if (char === '"') return value
      const escape = this.#text[this.#at]
      if (escape === 'u') {
        const hex = this.#text.slice(this.#at + 1, this.#at + 5)
        if (!/^[\da-f]{4}$/i.test(hex)) return this.#cutString(value)
        value += String.fromCharCode(Number.parseInt(hex, 16))
        this.#at += 5
        continue
      }
      const plain = escape === undefined ? undefined : escapes[escape]
      if (plain === undefined) return this.#cutString(value)
      value += plain
      this.#at++
    }
  }

  /** Half of a surrogate pair is not a prefix of anything a reader should see. */
  #cutString(value: string): string {
    this.#stop()
    return /[\ud800-\udbff]$/.test(value) ? value.slice(0, -1) : value
  }

  #number(): number | undefined {
    numeral.lastIndex = this.#at
    const digits = numeral.exec(this.#text)?.[0] ?? ''
    this.#at += digits.length
    // What follows decides whether the number is over.
    if (digits === '' || !/[\s,\]}]/.test(this.#text[this.#at] ?? '')) return this.#stop()
    return Number(digits)
  }

  #skipSpace(): void {
    while (' \t\r\n'.includes(this.#text[this.#at] ?? 'end')) this.#at++
  }

  #consume(char: string): boolean {
    if (this.#text[this.#at] !== char) return false
    this.#at++
    return true
  }

  #stop(): undefined {
    this.#done = false
    return undefined
  }
}
