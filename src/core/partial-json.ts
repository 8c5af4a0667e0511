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
    for (const [word, value] of literals) {
      if (this.#text.startsWith(word, this.#at)) {
        this.#at += word.length
        return value
      }
    }
    return this.#number()
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
      // Plain assignment would run the setter of `__proto__`; JSON.parse makes a property of it.
      if (value !== undefined) {
        Object.defineProperty(object, key, {
          value,
          enumerable: true,
          configurable: true,
          writable: true,
        })
      }
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
      this.#at++
      if (char === '"') return value
      if (char !== '\\') {
        value += char
        continue
      }
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
    const match = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(this.#text.slice(this.#at))
    if (match === null) return this.#stop()
    const end = this.#at + match[0].length
    // What follows decides whether the number is over.
    if (!/[\s,\]}]/.test(this.#text[end] ?? '')) return this.#stop()
    this.#at = end
    return Number(match[0])
  }

  #skipSpace(): void {
    while (/[ \t\r\n]/.test(this.#text[this.#at] ?? '')) this.#at++
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
