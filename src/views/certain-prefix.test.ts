import { parsePartialJson as parseAsClient } from 'ai'
import { describe, expect, test } from 'vitest'
import { parsePartialJson } from '../core/partial-json.ts'
import { createRandom } from '../testing/random.ts'
import { breakJson, randomObject, writeJson } from '../testing/random-ledger/random-content.ts'
import { certainPrefix } from './certain-prefix.ts'

describe('certainPrefix', () => {
  test.each([
    ['{"city":"Os', '{"city":"Os'],
    ['{"a":12', '{"a":'],
    ['{"a":12,', '{"a":12,'],
    ['{"a":tr', '{"a":'],
    ['{"a":true', '{"a":true'],
    ['{"a":-', '{"a":'],
    ['{"a":01,', '{"a":'],
    ['["x\\', '["x'],
    ['["x\\u00', '["x'],
    ['["x\\ud83d', '["x'],
    ['["x\\ud83d\\ude00', '["x\\ud83d\\ude00'],
    ['["x\\\\ud8\\n', '["x\\\\ud8\\n'],
    ['["x\ud83d', '["x'],
    ['["\ud83d', '["'],
    ['["x\\ud83dz', '["x\\ud83dz'],
    ['["a\nb"]', '["a'],
    ['[1,]', '[1,'],
    ['{"a":1,}', '{"a":1,'],
    ['{"a":1} x', '{"a":1} '],
    ['Sorry', ''],
    ['12', ''],
    ['12 ', '12 '],
    ['12}', ''],
    ['12,', ''],
    ['[12}', '['],
    ['{"a":12]', '{"a":'],
    ['', ''],
    ['{"__proto__":{"a":1}}', '{"__proto__'],
    ['{"\\u005f_proto__":1,"b":2}', '{"\\u005f_proto__'],
    ['{"constructor":{"prototype":1}}', '{"constructor'],
  ])('[LG4] of %j is %j', async (text, prefix) => {
    expect(certainPrefix(text)).toBe(prefix)
    expect((await parseAsClient(prefix)).value).toEqual(parsePartialJson(prefix))
  })

  test('[LG4] is read alike by a client and by us, at every length, and only grows', async () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = createRandom(seed)
      const whole = writeJson(random, randomObject(random))
      const text = random.chance(0.4) ? breakJson(random, whole) : whole
      let before = ''
      for (let length = 0; length <= text.length; length++) {
        const prefix = certainPrefix(text.slice(0, length))
        expect(prefix.startsWith(before)).toBe(true)
        before = prefix
        const { value } = await parseAsClient(prefix)
        expect([prefix, value]).toEqual([prefix, parsePartialJson(prefix)])
      }
    }
  })

  test('[LG4] of a text that is whole is the text', () => {
    for (let seed = 0; seed < 60; seed++) {
      const random = createRandom(seed)
      const text = writeJson(random, randomObject(random))
      expect(certainPrefix(text)).toBe(text)
    }
  })

  test('[LG4] ends before nesting that is too deep to read', () => {
    const text = '['.repeat(100_000)
    expect(parsePartialJson(certainPrefix(text))).toBeDefined()
    expect(certainPrefix(text).length).toBeLessThan(1000)
  })
})
