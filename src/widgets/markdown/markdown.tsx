import { marked, type Token } from 'marked'
import { memo, type ReactNode, useMemo } from 'react'
import { closeOpenSyntax } from './close-open-syntax.ts'
import { MarkdownBlock } from './markdown-block.tsx'

/** The props of `<Markdown>`. */
export interface MarkdownProps {
  /** Markdown as a model writes it, also in the middle of a mark. Beyond 200,000 characters it is shown as it is. */
  readonly text: string
  /**
   * Still growing: what is half written is shown as if it were finished, so that nothing flashes.
   *
   * @default false
   */
  readonly isStreaming?: boolean
}

/** Past this, a text is data and not prose: it is shown as it is, at no cost. */
const longest = 200_000

/** Markdown as elements, never as HTML: what a model writes cannot become anything but these (HT5). */
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
        // A block has no name but its place, and its place never changes while text is added.
        <Block key={index} token={token} />
      ))}
    </div>
  )
}

export const readMarkdown = (text: string, isStreaming: boolean): readonly Token[] =>
  marked
    .lexer(isStreaming ? closeOpenSyntax(text) : text, { gfm: true })
    .filter(({ type }) => type !== 'space' && type !== 'def')

/** Only the block that grows is drawn again. */
const Block = memo(MarkdownBlock, (before, after) => before.token.raw === after.token.raw)
