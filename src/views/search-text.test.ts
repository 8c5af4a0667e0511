import { expect, it } from 'vitest'
import { matchesTerms, parseSearchTerms, toSearchWords, toSnippet } from './search-text.ts'

it('[FK1] words have no case, accents or marks; each stands once; what has no spaces is taken letter by letter', () => {
  expect(toSearchWords('Café CAFÉ, cafe! ﬁve-2 naïve')).toEqual(['cafe', 'five', '2', 'naive'])
  expect(toSearchWords('東京タワー tower')).toEqual(['東', '京', 'タ', 'ワ', 'ー', 'tower'])
  expect(toSearchWords('x'.repeat(100))).toEqual(['x'.repeat(64)])
  expect(toSearchWords(' … — \u0000')).toEqual([])
})

it('[FK1] the last word of a query may be a beginning, unless something follows it or it is one letter', () => {
  expect(parseSearchTerms('green te')).toEqual({ words: ['green'], prefix: 'te' })
  expect(parseSearchTerms('green te ')).toEqual({ words: ['green', 'te'], prefix: null })
  expect(parseSearchTerms('vitamin c')).toEqual({ words: ['vitamin', 'c'], prefix: null })
  expect(parseSearchTerms('?!')).toBeNull()
})

it('[FK1 OP7] of a text that is longer than any answer only so much is looked at', () => {
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

it('[FK1] a snippet is plain text around the first hit, with the places of all hits in it', () => {
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
