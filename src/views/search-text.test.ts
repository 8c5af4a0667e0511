import { expect, it, onTestFinished, vi } from 'vitest'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseMessageId } from '../core/ids.ts'
import { type PausableWork, runToEnd } from '../core/pausable-work.ts'
import {
  findInMessage,
  findSearchWords,
  matchesTerms,
  parseSearchTerms,
  toSearchWords,
  toSnippet,
} from './search-text.ts'
import { numberEvents } from '../core/event.ts'

it('[FK1] words have no case, accents or marks; each occurs once; scripts without spaces are split by letter', () => {
  expect(toSearchWords('Café CAFÉ, cafe! ﬁve-2 naïve')).toEqual(['cafe', 'five', '2', 'naive'])
  expect(toSearchWords('東京タワー tower')).toEqual(['東', '京', 'タ', 'ワ', 'ー', 'tower'])
  expect(toSearchWords('x'.repeat(600))).toEqual(['x'.repeat(500)])
  expect(toSearchWords(' … — \u0000')).toEqual([])
})

it('[FK1] the last word of a query may be a beginning, unless something follows it or it is one letter', () => {
  expect(parseSearchTerms('green te')).toEqual({ words: ['green'], prefix: 'te' })
  expect(parseSearchTerms('green te ')).toEqual({ words: ['green', 'te'], prefix: null })
  expect(parseSearchTerms('vitamin c')).toEqual({ words: ['vitamin', 'c'], prefix: null })
  expect(parseSearchTerms('?!')).toBeNull()
})

it('[FK1 OP7] of a text that is longer than any answer only a prefix is read', () => {
  const text = `first ${'x '.repeat(500_000)} last`
  expect(toSearchWords(text)).toEqual(['first', 'x'])
  expect(toSnippet(text, parseSearchTerms('last ')!).ranges).toEqual([])
})

const find = (text: string, query: string) =>
  matchesTerms(new Set(toSearchWords(text)), parseSearchTerms(query)!)

it('[FK1] a text is found by all of the words, in any order', () => {
  expect(find('The green tea of Kyōto', 'kyoto gre')).toBe(true)
  expect(find('The green tea', 'green coffee')).toBe(false)
  expect(find('The green tea', 'gre tea')).toBe(false)
})

it('[FK1] a snippet is plain text around the first hit, with the ranges of all hits in it', () => {
  const text = `${'word '.repeat(40)}\n\nGreen <b>tea</b> and green\ttea. ${'more '.repeat(60)}`
  const { snippet, ranges } = toSnippet(text, parseSearchTerms('green te')!)
  expect(ranges.map(([start, end]) => snippet.slice(start, end))).toEqual([
    'Green',
    'tea',
    'green',
    'tea',
  ])
  expect(snippet).toMatch(/^…word .*<b>tea<\/b> and green tea\. more .*…$/)
  expect(snippet.length).toBeLessThan(210)
  expect(toSnippet('short', parseSearchTerms('other')!)).toEqual({ snippet: 'short', ranges: [] })
})

it('[FK1] long words are compared as a whole, and their hit is cut to the snippet', () => {
  const key = '0123456789abcdef'.repeat(20)
  expect(find(`key ${key}1`, `${key}1 `)).toBe(true)
  expect(find(`key ${key}1`, `${key}2 `)).toBe(false)
  expect(find(`key ${key}1`, `${key}z`)).toBe(false)
  const { snippet, ranges } = toSnippet(`key ${key}`, parseSearchTerms(key)!)
  expect(ranges).toEqual([[4, snippet.length - 1]])
})

it('[FK1 OP7] the words of one text that are indexed have a limit', () => {
  const words = Array.from({ length: 2_000 }, (_, index) => `${index}x`.padEnd(400, 'y'))
  const found = toSearchWords(words.join(' '))
  expect(found.join('').length).toBeGreaterThanOrEqual(300_000)
  expect(found.join('').length).toBeLessThan(301_000)
})

it('[FK1 IN3] what a person said while a turn ran is theirs', () => {
  const turnId = parseMessageId('turn')
  const body = { turnId, at: 1 }
  const events = [
    { ...body, type: 'turn-started', replyTo: null },
    { ...body, type: 'step-started', step: 0 },
    { ...body, type: 'text-started', block: '0', kind: 'text' },
    { ...body, type: 'text-appended', block: '0', delta: 'A seal.' },
    { ...body, type: 'step-ended', finishReason: 'stop' },
    {
      ...body,
      type: 'input-joined',
      messageId: parseMessageId('u'),
      parts: [{ type: 'text', text: 'And a walrus?' }],
    },
  ] as const
  const turn = foldTurn(emptyTurn(turnId, 1, 1), numberEvents(events, 1))
  const find = (query: string) => runToEnd(findInMessage(turn, parseSearchTerms(query)!))
  const snippet = 'A seal. And a walrus?'
  expect(find('walrus ')).toEqual({ snippet, ranges: [[14, 20]], role: 'user' })
  expect(find('seal ')).toEqual({ snippet, ranges: [[2, 6]], role: 'assistant' })
  expect(find('and ')).toEqual({ snippet, ranges: [[8, 11]], role: 'user' })
  expect(find('otter ')).toEqual({ snippet, ranges: [], role: 'assistant' })
})

it('[FK1 OP7] a hit far into a long text is found with pauses, and its snippet is cut between words', () => {
  const text = `${'beforehand '.repeat(20_000)}hit, \n\n\n and what follows ${'afterwards '.repeat(20_000)}`
  const parts = [{ type: 'text', text }] as const
  const id = parseMessageId('u')
  const message = { id, role: 'user', parts, seq: 1, createdAt: 1 } as const
  const work = findInMessage(message, parseSearchTerms('hit hand ward ')!)
  let pauses = 0
  for (;;) {
    const { done, value } = work.next()
    if (done !== true) {
      pauses++
      continue
    }
    expect(value.snippet).toMatch(/^…beforehand .*beforehand hit, and what follows afterwards .*…$/)
    expect(value.ranges.map(([from, to]) => value.snippet.slice(from, to))).toEqual(['hit'])
    break
  }
  expect(pauses).toBeGreaterThan(15)
})

it.each([
  ['white space alone around it', `${' '.repeat(5_000)}hit${'\n'.repeat(5_000)}`, 'hit'],
  ['one word before it', `${'x'.repeat(5_000)} hit`, 'hit'],
  ['letters without spaces', `${'東'.repeat(5_000)} 京 ${'都'.repeat(5_000)}`, '京'],
])('[FK1] a snippet has %s and shows the hit', (_, text, query) => {
  const { snippet, ranges } = toSnippet(text, parseSearchTerms(`${query} `)!)
  expect(ranges.map(([from, to]) => snippet.slice(from, to))).toEqual([query])
  expect(snippet.length).toBeLessThan(210)
})

it('[FK1] a run of letters that is longer than any word has the word that its beginning makes', () => {
  const letters = { latin: 'e\u0301', math: '\u{1D4B3}', thai: 'สวัสดีครับ', deseret: '\u{10400}' }
  const plain = { latin: 'e', math: 'x', thai: 'สวสดครบ', deseret: '\u{10428}' }
  for (const script of ['latin', 'math', 'thai', 'deseret'] as const) {
    const beginning = Array.from(plain[script].repeat(500)).slice(0, 499).join('')
    for (const before of ['', 'x ', `${'x'.repeat(1_990)} `]) {
      const text = `${before}1${letters[script].repeat(3_000)} end`
      expect(toSearchWords(text).slice(-2)).toEqual([`1${beginning}`, 'end'])
    }
  }
})

it('[FK1] words are whole wherever the work on a text pauses', () => {
  const words = Array.from({ length: 9_000 }, (_, nth) => `${'x'.repeat(nth % 23)}${nth}`)
  expect(toSearchWords(words.join(' '))).toEqual(words)
  const text = `${'x'.repeat(1_998)}${'東京'.repeat(3_000)}タ`
  expect(toSearchWords(text)).toEqual(['x'.repeat(500), '東', '京', 'タ'])
  const { snippet, ranges } = toSnippet(words.join(' '), parseSearchTerms(`${words[8_000]} `)!)
  expect(ranges.map(([from, to]) => snippet.slice(from, to))).toEqual([words[8_000]])
})

/** How many characters are normalised between two pauses, at most, and how often the work pauses. */
function measurePauses(work: PausableWork<unknown>) {
  const normalized = vi.spyOn(String.prototype, 'normalize')
  onTestFinished(() => normalized.mockRestore())
  let [pauses, most] = [0, 0]
  for (let isDone = false; !isDone; pauses++) {
    normalized.mockClear()
    isDone = work.next().done === true
    most = Math.max(
      most,
      normalized.mock.contexts.reduce((sum: number, text) => sum + String(text).length, 0),
    )
  }
  normalized.mockRestore()
  return { pauses, most }
}

// Normalising makes U+FDFA 18 characters.
it.each([
  ['one run', '\uFDFA'.repeat(200_000)],
  ['many runs', Array.from({ length: 1_000 }, (_, nth) => `${nth}${'½'.repeat(195)}`).join(' ')],
  ['no word', '…'.repeat(200_000)],
])('[FK1 OP7] of %s little is normalised between two pauses', (_, text) => {
  const id = parseMessageId('u')
  const parts = [{ type: 'text', text }] as const
  const message = { id, role: 'user', parts, seq: 1, createdAt: 1 } as const
  for (const work of [
    findSearchWords(text),
    findInMessage(message, parseSearchTerms('elsewhere nowhere')!),
  ]) {
    const { pauses, most } = measurePauses(work)
    expect(most).toBeLessThanOrEqual(2_000)
    expect(pauses).toBeGreaterThan(50)
  }
})
