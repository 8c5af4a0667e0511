import type { Token } from 'marked'
import { BoundedLexer } from './bounded-lexer.ts'
import { closeOpenSyntax } from './close-open-syntax.ts'

/** The blocks of a text that is complete, or of one that is still being written. */
export const readMarkdown = (text: string, isStreaming: boolean): readonly Token[] =>
  new BoundedLexer().lex(isStreaming ? closeOpenSyntax(text) : text).filter(isShown)

/** The beginning of a growing text, up to a block that nothing behind it changes any more. */
interface Settled {
  readonly text: string
  readonly tokens: readonly Token[]
  readonly links: BoundedLexer['tokens']['links']
  readonly spent: number
}

const nothing: Settled = { text: '', tokens: [], links: {}, spent: 0 }

/**
 * Reads one text as it grows. Only its last blocks are read again with each addition: to read all of it each time would take
 * quadratic time. A link whose address is defined after its paragraph becomes a link when the text is complete.
 */
export function createMarkdownReader(): typeof readMarkdown {
  let settled = nothing
  return (text, isStreaming) => {
    if (!isStreaming) return readMarkdown(text, false)
    if (!text.startsWith(settled.text)) settled = nothing
    const { tokens, links, spent } = settled
    const rest = text.slice(settled.text.length)
    const lexer = new BoundedLexer(spent)
    // Into its own object, which has no prototype: `[constructor]` is no link.
    Object.assign(lexer.tokens.links, links)
    const blocks = [...lexer.lex(closeOpenSyntax(rest))]
    settled = settle(settled, rest, blocks, lexer)
    return [...tokens, ...blocks.filter(isShown)]
  }
}

/** The last block grows, and may become part of the one before it: a new list item is a paragraph until its mark is complete. */
function settle(before: Settled, rest: string, blocks: readonly Token[], lexer: BoundedLexer) {
  const last = blocks.findLastIndex(isShown)
  const count = blocks.slice(0, Math.max(last, 0)).findLastIndex(isShown)
  const done = blocks.slice(0, Math.max(count, 0))
  const text = done.map(({ raw }) => raw).join('')
  // Other ends of lines than `\n` are not in what was read: such a text is read as a whole.
  if (text === '' || !rest.startsWith(text)) return before
  return {
    text: before.text + text,
    tokens: [...before.tokens, ...done.filter(isShown)],
    links: lexer.tokens.links,
    spent: before.spent + (lexer.spent - before.spent) * (text.length / rest.length),
  }
}

const isShown = ({ type }: Token): boolean => type !== 'space' && type !== 'def'
