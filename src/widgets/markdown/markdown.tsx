import { marked, type Token } from 'marked'
import { memo, type ReactNode, useMemo } from 'react'
import { closeOpenSyntax } from './close-open-syntax.ts'
import { MarkdownBlock } from './markdown-block.tsx'

/** The props of `<Markdown>`. */
export interface MarkdownProps {
  /**
   * Markdown as a model writes it, also while it is incomplete. Beyond 200,000 characters it is shown as plain text.
   */
  readonly text: string
  /**
   * Whether the text is still growing: incomplete syntax is rendered as if it were complete, so that nothing flickers.
   * @default false
   */
  readonly isStreaming?: boolean
}

/** A longer text is data and not prose: it is shown unparsed. */
const longest = 200_000

/** Markdown as elements, never as HTML: a model's text cannot become anything but these (HT5). */
export function Markdown({ text, isStreaming = false }: MarkdownProps): ReactNode {
  const tokens = useMemo(
    () => (text.length > longest ? null : readMarkdown(text, isStreaming)),
    [text, isStreaming],
  )
  if (tokens === null) {
    return (
      <div className="hf-markdown hf-plain" dir="auto">
        {text}
      </div>
    )
  }
  return (
    <div className="hf-markdown">
      {tokens.map((token, index) => (
        // A block has no key but its index, and its index never changes while text is added.
        <Block key={index} token={token} />
      ))}
    </div>
  )
}

export const readMarkdown = (text: string, isStreaming: boolean): readonly Token[] =>
  marked
    .lexer(isStreaming ? closeOpenSyntax(text) : text, { gfm: true })
    .filter(({ type }) => type !== 'space' && type !== 'def')

/** Only the block that grows is rendered again. */
const Block = memo(MarkdownBlock, (before, after) => before.token.raw === after.token.raw)
