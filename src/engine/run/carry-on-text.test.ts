import { describe, expect, test } from 'vitest'
import { createCarryOnMatcher } from './carry-on-text.ts'

interface Case {
  readonly shown: string
  readonly received: string
  /** The final text as one; null where the first attempt is marked as broken off. */
  readonly read: string | null
  readonly isPrefixed?: boolean
}

const long = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} of it.`).join(' ')

const cases: Readonly<Record<string, Case>> = {
  'an exact repeat': {
    shown: 'It is 18 degr',
    received: 'It is 18 degrees.',
    read: 'It is 18 degrees.',
  },
  'an exact repeat of a whole word': {
    shown: 'Hello',
    received: 'Hello world',
    read: 'Hello world',
  },
  'a repeat of all there is, and no more': {
    shown: 'It is done.',
    received: 'It is done.',
    read: 'It is done.',
  },
  'a repeat of less than was shown': {
    shown: 'It is done.',
    received: 'It is',
    read: 'It is done.',
  },
  'nothing at all': { shown: 'It is done.', received: '', read: 'It is done.' },
  'white space alone': { shown: 'It is done.', received: ' \n', read: 'It is done.' },
  'a long repeat': { shown: long, received: `${long} And more.`, read: `${long} And more.` },
  'it carries on in the middle of a word': {
    shown: 'It is 18 degr',
    received: 'ees today.',
    read: 'It is 18 degrees today.',
  },
  'it carries on after a space': { shown: 'one two ', received: 'three', read: 'one two three' },
  'it carries on with a space': { shown: 'one two', received: ' three', read: 'one two three' },
  'it carries on with digits': {
    shown: 'It is 1',
    received: '8 degrees',
    read: 'It is 18 degrees',
  },
  'it carries on with the next sentence': {
    shown: 'One is done. ',
    received: 'Two follows.',
    read: 'One is done. Two follows.',
  },
  'it carries on with a sentence that begins as the first': {
    shown: 'Sentence 1. Sentence 2. ',
    received: 'Sentence 3. Sentence 4.',
    read: 'Sentence 1. Sentence 2. Sentence 3. Sentence 4.',
  },
  'it carries on with the first word of a list': {
    shown: 'Here:\n\n- ',
    received: 'The first',
    read: 'Here:\n\n- The first',
  },
  'it carries on with a paragraph': { shown: 'One.', received: '\n\nTwo.', read: 'One.\n\nTwo.' },
  'it repeats the last words, as it was asked to': {
    shown: 'The weather in Paris is sunny and war',
    received: 'Paris is sunny and warm today.',
    read: 'The weather in Paris is sunny and warm today.',
  },
  'it repeats the last line': {
    shown: 'First line\nSecond line beg',
    received: 'Second line begins here',
    read: 'First line\nSecond line begins here',
  },
  'it repeats the last 80 characters': {
    shown: long,
    received: `${long.slice(-60)} And more.`,
    read: `${long} And more.`,
  },
  'the same words stand in it twice': {
    shown: 'tick tack tick tack tick tack toe',
    received: 'tick tack tick tack tick tack toe, and then',
    read: 'tick tack tick tack tick tack toe, and then',
  },
  'white space that differs': {
    shown: 'First line\nsecond   line ',
    received: 'First  line second line goes on',
    read: 'First line\nsecond   line goes on',
  },
  'leading white space': { shown: 'Hello wor', received: '\n Hello world', read: 'Hello world' },
  'space that was shown comes again': {
    shown: 'Hello ',
    received: 'Hello world',
    read: 'Hello world',
  },
  'more space than was shown': {
    shown: 'Hello ',
    received: 'Hello \n\nWorld',
    read: 'Hello \n\nWorld',
  },
  'it repeats half and goes another way': {
    shown: 'The weather in Paris is sunny and',
    received: 'The weather in Paris will be fine.',
    read: null,
  },
  'it repeats half of little': { shown: 'It is 18', received: 'It is cold', read: null },
  'it begins in the same way, in small letters': {
    shown: 'hello wor',
    received: 'help me',
    read: null,
  },
  'it begins another answer': { shown: 'The weather in Par', received: 'It is sunny.', read: null },
  'it begins another answer with a heading': {
    shown: 'The weather in ',
    received: '# Paris',
    read: null,
  },
  'it begins another answer in quotes': {
    shown: 'The weather in',
    received: '“Sunny”, they say.',
    read: null,
  },
  'a prefix that goes on with a name': {
    shown: 'The capital is',
    received: ' Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'a prefix whose space the provider cut': {
    shown: 'The capital is ',
    received: ' Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'a prefix that is repeated all the same': {
    shown: 'The capital is',
    received: 'The capital is Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'characters of two halves': {
    shown: 'Up 👩‍🚀👩‍🚀 and',
    received: 'Up 👩‍🚀👩‍🚀 and away 🚀',
    read: 'Up 👩‍🚀👩‍🚀 and away 🚀',
  },
  'characters that share their first half': {
    shown: 'Take this 😀 from',
    received: 'Take this 😁 from me',
    read: null,
  },
  'a text without spaces': {
    shown: '今天巴黎的天气是晴天，气温',
    received: '今天巴黎的天气是晴天，气温十八度。',
    read: '今天巴黎的天气是晴天，气温十八度。',
  },
  'a text without spaces that goes on': {
    shown: '今天巴黎的天气是',
    received: '晴天。',
    read: '今天巴黎的天气是晴天。',
  },
}

/** The final text, if it arrives in these pieces. */
function readIn(pieces: readonly string[], { shown, isPrefixed = false }: Case): string | null {
  const matcher = createCarryOnMatcher({ shown, isPrefixed })
  let verdict = null
  for (const piece of pieces) verdict ??= matcher.add(piece)
  verdict ??= matcher.finish()
  return verdict.kind === 'diverges' ? null : shown + pieces.join('').slice(verdict.drop)
}

describe('[AG8] the text of a new attempt, after the shown text', () => {
  for (const [name, each] of Object.entries(cases)) {
    test(name, () => {
      const { received, read } = each
      expect(readIn([received], each)).toBe(read)
      expect(readIn(received.split(''), each)).toBe(read)
      for (let at = 0; at <= received.length; at += 1 + Math.floor(received.length / 50)) {
        expect(readIn([received.slice(0, at), received.slice(at)], each)).toBe(read)
      }
    })
  }

  test('nothing is shown while it may be a repetition, and all of it at once when it is not', () => {
    const matcher = createCarryOnMatcher({ shown: 'Hello wor', isPrefixed: false })
    expect(['Hel', 'lo', ' ', 'wor'].map((piece) => matcher.add(piece))).toEqual([
      null,
      null,
      null,
      null,
    ])
    expect(matcher.add('ld')).toEqual({ kind: 'continues', drop: 9 })
    const other = createCarryOnMatcher({ shown: 'Hello wor', isPrefixed: false })
    expect(other.add('Good')).toEqual({ kind: 'diverges' })
  })

  test('a repetition of a million characters takes linear time', () => {
    const shown = Array.from({ length: 100_000 }, (_, index) => `word ${index}`).join(' ')
    const matcher = createCarryOnMatcher({ shown, isPrefixed: false })
    let verdict = null
    for (let at = 0; at < shown.length; at += 5) verdict ??= matcher.add(shown.slice(at, at + 5))
    expect(verdict).toBeNull()
    expect(matcher.add('!')).toEqual({ kind: 'continues', drop: shown.length })
    const same = 'a'.repeat(500_000)
    const other = createCarryOnMatcher({ shown: same, isPrefixed: false })
    expect([other.add(same), other.add('b')]).toEqual([
      null,
      { kind: 'continues', drop: same.length },
    ])
  })

  test.each([
    ['white space, then a word', `${'\n '.repeat(200_000)}x`, { kind: 'continues', drop: 0 }],
    ['lines that end', `${'.\n'.repeat(200_000)}x`, { kind: 'continues', drop: 0 }],
    ['white space at its end', `x.${'\n '.repeat(200_000)}`, { kind: 'continues', drop: 0 }],
  ] as const)('[OP7] a shown text of %s takes linear time', (_, shown, verdict) => {
    const matcher = createCarryOnMatcher({ shown, isPrefixed: false })
    expect(matcher.add('y')).toEqual(verdict)
  })

  test('[OP7] white space that comes piece by piece takes linear time', () => {
    const matcher = createCarryOnMatcher({ shown: 'Hello wor', isPrefixed: false })
    for (let count = 0; count < 200_000; count++) expect(matcher.add(' ')).toBeNull()
    expect(matcher.add('Good')).toEqual({ kind: 'diverges' })
  })
})
