import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../testing/random.ts'
import { toJson } from './to-json.ts'

const throughText = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? null : JSON.parse(text)
}

/** A nested value of anything that a tool may return, JSON or not. */
function anyValue(random: ReturnType<typeof createRandom>, depth: number): unknown {
  const plain = [0, -0, 1.5, Number.NaN, Number.NEGATIVE_INFINITY, '', 'ü\n"\u2028', '\ud800', true]
  const odd = [
    null,
    undefined,
    new Date(0),
    Symbol('s'),
    () => 1,
    new Map([[1, 2]]),
    new Error('e'),
  ]
  const leaf = [...plain, ...plain, ...odd]
  switch (random.int(depth > 0 ? 4 : 2)) {
    case 2:
      return Array.from({ length: random.int(4) }, () => anyValue(random, depth - 1))
    case 3: {
      const keys = ['b', '1', '__proto__', 'toString', 'constructor', 'ä']
      const entries = Array.from({ length: random.int(4) }, () => {
        return [keys[random.int(keys.length)], anyValue(random, depth - 1)] as [string, unknown]
      })
      return Object.fromEntries(entries)
    }
    default:
      return leaf[random.int(leaf.length)]
  }
}

describe('toJson', () => {
  test('[LG9] returns every value as its JSON text would', () => {
    let plain = 0
    for (let seed = 0; seed < 3_000; seed++) {
      const value = anyValue(createRandom(seed), 4)
      const expected = throughText(value)
      expect(JSON.stringify(toJson(value))).toBe(JSON.stringify(expected))
      expect(isDeepStrictEqual(toJson(value), expected)).toBe(true)
      if (typeof value === 'object' && value !== null) plain++
    }
    expect(plain).toBeGreaterThan(500)
  })

  test('is a copy: what the tool does to its value afterwards changes nothing', () => {
    const value = { list: [1, { two: 2 }] }
    const copy = toJson(value)
    value.list.push(3)
    ;(value.list[1] as { two: number }).two = 9
    expect(copy).toEqual({ list: [1, { two: 2 }] })
  })

  test('calls toJSON of a value, wherever it occurs', () => {
    class Price {
      toJSON() {
        return { amount: 1 }
      }
    }
    const list = Object.assign([1], { toJSON: () => 'a list' })
    expect(toJson({ price: new Price(), list, own: { toJSON: () => 'own' } })).toEqual({
      price: { amount: 1 },
      list: 'a list',
      own: 'own',
    })
  })

  test('[OP7] refuses too many different keys before it has read what they hold', () => {
    let reads = 0
    const objectOf = (nth: number, count: number): object => {
      const object = {}
      for (let key = 0; key < count; key++) {
        const get = () => ++reads
        Object.defineProperty(object, `${nth}-${key}`, { enumerable: true, get })
      }
      return object
    }
    expect(() => toJson(objectOf(1, 30_000))).toThrow('different keys')
    expect(reads).toBe(0)
    expect(() => toJson(Array.from({ length: 10 }, (_, nth) => objectOf(nth, 10_000)))).toThrow(
      'different keys',
    )
    expect(reads).toBe(20_000)
  })

  test('throws for what JSON cannot represent', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(() => toJson(circle)).toThrow(TypeError)
    expect(() => toJson({ many: 10n })).toThrow(TypeError)
  })
})
