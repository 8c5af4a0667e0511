import type { MarkedToken, Token } from 'marked'
import { describe, expect, it } from 'vitest'
import { longAnswer } from '../../demo/demo-answers.ts'
import { decodeReferences } from './safe-address.ts'
import { readMarkdown } from './read-markdown.ts'

const samples = {
  'the long answer of the demo': longAnswer(),
  'marks of every kind':
    'A **bold *and italic* word**, `code **not bold**`, ~~gone~~ and snake_case_name.\n\n' +
    '1. First\n2. Second with [a link](https://example.com/a_b) and more\n   - inner *item*\n\n' +
    '> quoted &lt;b&gt; text\n\n---\n\n- [ ] task\n- [x] done\n\nEnd with 2 * 3 = 6 and __strong__.',
  'code and a table':
    'Before\n\n```ts\nconst a = `x`\n// **not bold**\n```\n\n| a | b |\n|---|:-:|\n| 1 | **2** |\n| 3 | 4 |\n\nAfter',
}

describe('Markdown while it streams', () => {
  for (const [name, text] of Object.entries(samples)) {
    it(`[CO2] shows words that only grow, at every prefix of ${name}`, () => {
      let before = ''
      for (let length = 1; length <= text.length; length++) {
        const now = wordsOf(readMarkdown(text.slice(0, length), true))
        if (!now.startsWith(before)) expect({ length, now }).toEqual({ length, now: before })
        before = now
      }
      expect(wordsOf(readMarkdown(text, false)).startsWith(before)).toBe(true)
    })
  }
})

/** The visible text, without the spaces between blocks. */
function wordsOf(tokens: readonly Token[]): string {
  return tokens.map(wordOf).join('').replaceAll(/\s+/g, '')
}

function wordOf(token: Token): string {
  const known = token as MarkedToken
  switch (known.type) {
    case 'list':
      return known.items.map((item) => wordsOf(item.tokens)).join('')
    case 'table':
      return [known.header, ...known.rows]
        .flat()
        .map((cell) => wordsOf(cell.tokens))
        .join('')
    case 'code':
      // In code the line breaks are visible too.
      return known.text.replaceAll('\n', '⏎')
    case 'codespan':
    case 'escape':
      return known.text
    case 'text':
      return known.tokens === undefined ? decodeReferences(known.text) : wordsOf(known.tokens)
    case 'checkbox':
    case 'hr':
    case 'br':
    case 'space':
      return ''
    default:
      return 'tokens' in known && known.tokens !== undefined ? wordsOf(known.tokens) : known.raw
  }
}
