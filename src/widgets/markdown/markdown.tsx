import type { Token } from 'marked'
import { memo, type ReactNode, useMemo, useState } from 'react'
import { MarkdownBlock } from './markdown-block.tsx'
import { createMarkdownReader } from './read-markdown.ts'

/** The props of `<Markdown>`. */
export interface MarkdownProps {
  /**
   * Markdown as a model writes it, also while it is incomplete. Beyond 200,000 characters it is shown as plain text, and so are
   * parts that are nested too deeply or have too many elements.
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
  const [read] = useState(createMarkdownReader)
  const tokens = useMemo(
    () => (text.length > longest ? null : read(text, isStreaming)),
    [read, text, isStreaming],
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
        <Block key={index} token={token} isStreaming={isStreaming} />
      ))}
    </div>
  )
}

interface BlockProps {
  readonly token: Token
  readonly isStreaming: boolean
}

/** Only the block that grows is rendered again; at the end all are, as the address of a link may be defined below it. */
const Block = memo(
  ({ token }: BlockProps) => <MarkdownBlock token={token} />,
  (before, after) =>
    before.token.raw === after.token.raw && before.isStreaming === after.isStreaming,
)
