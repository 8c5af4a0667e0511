import { describe, expect, test } from 'vitest'
import { createCarryOnMatcher } from './carry-on-text.ts'

interface Case {
  readonly shown: string
  readonly said: string
  /** What a reader has in the end as one text; null where the first attempt is marked as broken off. */
  readonly read: string | null
  readonly isPrefixed?: boolean
}

const long = Array.from({ length: 40 }, (_, index) => `Sentence number ${index} of it.`).join(' ')

const cases: Readonly<Record<string, Case>> = {
  'an exact repeat': {
    shown: 'It is 18 degr',
    said: 'It is 18 degrees.',
    read: 'It is 18 degrees.',
  },
  'an exact repeat of a whole word': { shown: 'Hello', said: 'Hello world', read: 'Hello world' },
  'a repeat of all there is, and no more': {
    shown: 'It is done.',
    said: 'It is done.',
    read: 'It is done.',
  },
  'a repeat of less than was shown': { shown: 'It is done.', said: 'It is', read: 'It is done.' },
  'nothing at all': { shown: 'It is done.', said: '', read: 'It is done.' },
  'white space alone': { shown: 'It is done.', said: ' \n', read: 'It is done.' },
  'a long repeat': { shown: long, said: `${long} And more.`, read: `${long} And more.` },
  'it carries on in the middle of a word': {
    shown: 'It is 18 degr',
    said: 'ees today.',
    read: 'It is 18 degrees today.',
  },
  'it carries on after a space': { shown: 'one two ', said: 'three', read: 'one two three' },
  'it carries on with a space': { shown: 'one two', said: ' three', read: 'one two three' },
  'it carries on with digits': { shown: 'It is 1', said: '8 degrees', read: 'It is 18 degrees' },
  'it carries on with the next sentence': {
    shown: 'One is done. ',
    said: 'Two follows.',
    read: 'One is done. Two follows.',
  },
  'it carries on with a sentence that begins as the first': {
    shown: 'Sentence 1. Sentence 2. ',
    said: 'Sentence 3. Sentence 4.',
    read: 'Sentence 1. Sentence 2. Sentence 3. Sentence 4.',
  },
  'it carries on with the first word of a list': {
    shown: 'Here:\n\n- ',
    said: 'The first',
    read: 'Here:\n\n- The first',
  },
  'it carries on with a paragraph': { shown: 'One.', said: '\n\nTwo.', read: 'One.\n\nTwo.' },
  'it repeats the last words, as it was asked to': {
    shown: 'The weather in Paris is sunny and war',
    said: 'Paris is sunny and warm today.',
    read: 'The weather in Paris is sunny and warm today.',
  },
  'it repeats the last line': {
    shown: 'First line\nSecond line beg',
    said: 'Second line begins here',
    read: 'First line\nSecond line begins here',
  },
  'it repeats the last 80 characters': {
    shown: long,
    said: `${long.slice(-60)} And more.`,
    read: `${long} And more.`,
  },
  'the same words stand in it twice': {
    shown: 'tick tack tick tack tick tack toe',
    said: 'tick tack tick tack tick tack toe, and then',
    read: 'tick tack tick tack tick tack toe, and then',
  },
  'white space that differs': {
    shown: 'First line\nsecond   line ',
    said: 'First  line second line goes on',
    read: 'First line\nsecond   line goes on',
  },
  'leading white space': { shown: 'Hello wor', said: '\n Hello world', read: 'Hello world' },
  'space that was shown comes again': { shown: 'Hello ', said: 'Hello world', read: 'Hello world' },
  'more space than was shown': {
    shown: 'Hello ',
    said: 'Hello \n\nWorld',
    read: 'Hello \n\nWorld',
  },
  'it repeats half and goes another way': {
    shown: 'The weather in Paris is sunny and',
    said: 'The weather in Paris will be fine.',
    read: null,
  },
  'it repeats half of little': { shown: 'It is 18', said: 'It is cold', read: null },
  'it begins in the same way, in small letters': {
    shown: 'hello wor',
    said: 'help me',
    read: null,
  },
  'it begins another answer': { shown: 'The weather in Par', said: 'It is sunny.', read: null },
  'it begins another answer with a heading': {
    shown: 'The weather in ',
    said: '# Paris',
    read: null,
  },
  'it begins another answer in quotes': {
    shown: 'The weather in',
    said: '“Sunny”, they say.',
    read: null,
  },
  'a prefix that goes on with a name': {
    shown: 'The capital is',
    said: ' Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'a prefix whose space the provider cut': {
    shown: 'The capital is ',
    said: ' Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'a prefix that is repeated all the same': {
    shown: 'The capital is',
    said: 'The capital is Paris.',
    read: 'The capital is Paris.',
    isPrefixed: true,
  },
  'characters of two halves': {
    shown: 'Up 👩‍🚀👩‍🚀 and',
    said: 'Up 👩‍🚀👩‍🚀 and away 🚀',
    read: 'Up 👩‍🚀👩‍🚀 and away 🚀',
  },
  'characters that share their first half': {
    shown: 'Take this 😀 from',
    said: 'Take this 😁 from me',
    read: null,
  },
  'a text without spaces': {
    shown: '今天巴黎的天气是晴天，气温',
    said: '今天巴黎的天气是晴天，气温十八度。',
    read: '今天巴黎的天气是晴天，气温十八度。',
  },
  'a text without spaces that goes on': {
    shown: '今天巴黎的天气是',
    said: '晴天。',
    read: '今天巴黎的天气是晴天。',
  },
}

/** What is read in the end, if the text comes in such pieces. */
function readIn(pieces: readonly string[], { shown, isPrefixed = false }: Case): string | null {
  const matcher = createCarryOnMatcher({ shown, isPrefixed })
  let verdict = null
  for (const piece of pieces) verdict ??= matcher.add(piece)
  verdict ??= matcher.finish()
  return verdict.kind === 'diverges' ? null : shown + pieces.join('').slice(verdict.drop)
}

describe('[AG8] what a new attempt says, after what was shown', () => {
  for (const [name, each] of Object.entries(cases)) {
    test(name, () => {
      const { said, read } = each
      expect(readIn([said], each)).toBe(read)
      expect(readIn(said.split(''), each)).toBe(read)
      for (let at = 0; at <= said.length; at += 1 + Math.floor(said.length / 50)) {
        expect(readIn([said.slice(0, at), said.slice(at)], each)).toBe(read)
      }
    })
  }

  test('nothing is shown while it may be a repeat, and the rest at once when it is not', () => {
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

  test('a repeat of a million characters takes no longer than it is', () => {
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
})
