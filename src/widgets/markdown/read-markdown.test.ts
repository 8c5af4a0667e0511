import { marked, type Token, type Tokens } from 'marked'
import { describe, expect, it } from 'vitest'
import { longAnswer } from '../../demo/demo-answers.ts'
import { BoundedLexer } from './bounded-lexer.ts'
import { createMarkdownReader, readMarkdown } from './read-markdown.ts'

const length = 200_000
const fill = (part: string): string => part.repeat(Math.ceil(length / part.length)).slice(0, length)
const lines = (line: (index: number) => string): string => {
  let text = ''
  for (let index = 0; text.length < length; index++) text += `${line(index)}\n`
  return text.slice(0, text.lastIndexOf('\n', length))
}

/** Each takes `marked` seconds to hours, or its stack. */
const hostile = {
  'emphasis without an end': fill('*a_'),
  'strong without an end': fill('**a'),
  'nested emphasis': '*a **b '.repeat(14_000) + ' b** a*'.repeat(14_000),
  'one underscore after the other': fill('_a'),
  tildes: fill('~~a~'),
  'links in a row': fill('[a](b)'),
  'brackets that nest': '['.repeat(100_000) + ']'.repeat(100_000),
  'images that do not end': fill('![]('),
  'runs of backticks': Array.from({ length: 630 }, (_, run) => `${'`'.repeat(run)}a`).join(''),
  'instructions that do not end': fill('a <?'),
  'comments that do not end': fill('a <!--'),
  'an address of dots': `http://a${fill('.')}`,
  'quotations in quotations': fill('> '),
  'a quotation that goes on lazily': '> '.repeat(50_000) + 'a\n'.repeat(50_000),
  'lists in quotations that go on lazily': fill('> - a\nb\n'),
  'lists in lists': fill('+ '),
  'quotations in lists': fill('1. - > '),
  'an item that goes on lazily': `- a\n${fill('b\n')}`,
  tasks: fill('- [ ] a\n'),
  'a table of ten thousand columns': `${'|a'.repeat(10_000)}|\n${'|-'.repeat(10_000)}|\n${fill('|\n')}`,
  'a table that begins in each of its lines': fill('a|b\n-|-\n'),
  underlines: fill('a\n-\n'),
  'very many paragraphs': fill('a\n\n'),
}

describe('Markdown of a hostile model', () => {
  it.each(Object.entries(hostile))('[HT5 OP7] is read with bounded work: %s', (_, text) => {
    const lexer = new BoundedLexer()
    const tokens = lexer.lex(text)
    // The last step may be a whole list, table or piece of text.
    expect(lexer.spent).toBeLessThan(110_000)
    expect(depthOf(tokens)).toBeLessThan(50)
  })

  it('[HT5 OP7] pays for the reading of tables that are refused, each of which reaches to the end', () => {
    const text = hostile['a table that begins in each of its lines']
    const [beginning] = new BoundedLexer(90_000).lex(text)
    // Four of them are all that is left to pay for.
    expect(beginning?.raw.split('\n')).toHaveLength(8)
  })

  it('[HT5 OP7] shows all of a text that is nested too deeply', () => {
    expect(rawOf(readMarkdown(`${'> '.repeat(30_000)}end`, false))).toMatch(/end$/)
  })

  it('[HT5 OP7] keeps the form of what stands before and after it', () => {
    const tokens = readMarkdown(`# Title\n\n${'> '.repeat(1000)}x\n\nA **word**.`, false)
    expect(tokens.map(({ type }) => type)).toEqual(['heading', 'blockquote', 'paragraph'])
  })
})

const ordinary = {
  prose: lines((index) =>
    index % 6 === 5
      ? ''
      : 'A **bold** and *em* and `code` word, [a link](https://a.example/x_y), 2 * 3.',
  ),
  'a table': `| a | b |\n|---|---|\n${lines((index) => `| ${index} | **x** and some more text |`)}`,
  code: `\`\`\`ts\n${lines((index) => `const value${index} = [1, 2].map((x) => x * 2) // *`)}\n\`\`\``,
  'paragraphs with mathematics': lines((index) =>
    index % 6 === 5 ? '' : '$x_{1} + y_{2}^{*} = \\frac{a_{i}}{b_{j}}$ and \\(a*b\\)',
  ),
}

describe('Markdown of an ordinary model', () => {
  it.each(Object.entries({ ...ordinary, 'the answer of the demo': longAnswer() }))(
    '[CO2] is read as marked reads it, also if it is long: %s',
    (_, text) => {
      expect(new BoundedLexer().lex(text)).toEqual(marked.lexer(text, { gfm: true }))
    },
  )

  it('[CO2] has all items of a long list, with their numbers', () => {
    const marks = Array.from({ length: 6_000 }, (_, index) => `${index + 1}. `)
    const text = marks
      .map((mark) => `${mark}item **${mark}**\n${' '.repeat(mark.length)}- inner`)
      .join('\n')
    const lists = readMarkdown(text, false).filter(isList)
    let next = 1
    for (const { start, items } of lists) {
      expect(start).toBe(next)
      next += items.length
      for (const item of items) expect(item.tokens.at(-1)?.type).toBe('list')
    }
    expect(next - 1).toBe(marks.length)
  })

  it('[CO2] has a long paragraph of many lines as one', () => {
    const tokens = readMarkdown(
      lines((index) => `line ${index} with **bold** text`),
      false,
    )
    expect(tokens.map(({ type }) => type)).toEqual(['paragraph'])
  })
})

const growing = {
  'the answer of the demo': longAnswer(),
  'lists, code and quotations':
    'Before\n\n- a\n\n- b\n\n  more\n\n1. c\n\n   ```ts\n   x\n\n   y\n   ```\n\n2. d\n\nText\n---\n\n' +
    '> q\n\n> r\nlazy\n\n    code\n\n    more\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n<div>\n\n*x*\n\n</div>\n\nEnd [a] b\n',
}

describe('Markdown that grows', () => {
  it.each(Object.entries(growing))(
    '[CO2] is at each prefix what it is as a whole: %s',
    (_, text) => {
      const read = createMarkdownReader()
      for (let end = 1; end <= text.length; end++) {
        const whole = readMarkdown(text.slice(0, end), true)
        expect(read(text.slice(0, end), true).map(({ raw }) => raw)).toEqual(
          whole.map(({ raw }) => raw),
        )
      }
    },
  )

  it('[OP7 CO2] is not read again from its beginning', () => {
    const read = createMarkdownReader()
    const text = ordinary.prose.slice(0, 20_000)
    const before = read(text, true)
    const after = read(`${text} more`, true)
    expect(before.length).toBeGreaterThan(30)
    // The same objects, but for the last two blocks.
    expect(after.filter((token, index) => token !== before[index])).toHaveLength(2)
  })

  it('[CO2] begins anew if it does not go on as it was', () => {
    const read = createMarkdownReader()
    read('one\n\ntwo\n\nthree\n\nfour', true)
    expect(read('# other\n\ntext', true)).toEqual(readMarkdown('# other\n\ntext', true))
  })

  it('[HT5] finds no definition of a link in what every object has', () => {
    const read = createMarkdownReader()
    const text = 'a\n\nb\n\nc\n\n[constructor] and [__proto__]'
    for (const end of [text.length - 30, text.length]) read(text.slice(0, end), true)
    expect(JSON.stringify(read(text, true))).not.toContain('"link"')
  })
})

const isList = (token: Token): token is Tokens.List => token.type === 'list'

function childrenOf(token: Token): readonly Token[] {
  const known = token as Token & { readonly items?: readonly Token[] }
  return [...(('tokens' in token && token.tokens) || []), ...(known.items ?? [])]
}

const depthOf = (tokens: readonly Token[]): number =>
  tokens.reduce((deepest, token) => Math.max(deepest, 1 + depthOf(childrenOf(token))), 0)

const rawOf = (tokens: readonly Token[]): string => tokens.map(({ raw }) => raw).join('')
