import type { MarkedToken, Token, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { useStrings } from '../strings-context.tsx'
import { CodeBlock } from './code-block.tsx'
import { MarkdownInline } from './markdown-inline.tsx'

interface MarkdownBlockProps {
  readonly token: Token
  /**
   * Inside a list or a quotation, which sets the direction. With a `dir` of its own its text would be ignored when the
   * browser determines theirs.
   */
  readonly isNested?: boolean
}

export function MarkdownBlock({ token, isNested = false }: MarkdownBlockProps): ReactNode {
  const known = token as MarkedToken
  const dir = isNested ? undefined : 'auto'
  switch (known.type) {
    case 'paragraph':
      return (
        <p dir={dir}>
          <MarkdownInline tokens={known.tokens} />
        </p>
      )
    case 'heading':
      return <Heading token={known} dir={dir} />
    case 'code':
      return <CodeBlock code={known.text} language={known.lang ?? ''} />
    case 'list':
      return <List token={known} dir={dir} />
    case 'table':
      return <Table token={known} />
    case 'blockquote':
      return (
        <blockquote dir={dir}>
          <Blocks tokens={known.tokens} />
        </blockquote>
      )
    case 'hr':
      return <hr />
    case 'space':
    case 'def':
      return null
    case 'html':
      return (
        <p dir={dir} className="hf-plain">
          {known.text}
        </p>
      )
    default:
      return <MarkdownInline tokens={[token]} />
  }
}

function Blocks({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <MarkdownBlock key={index} token={token} isNested />)
}

type Direction = 'auto' | undefined

function Heading(props: { readonly token: Tokens.Heading; readonly dir: Direction }): ReactNode {
  const { token, dir } = props
  // The page has its own first and second level.
  const Tag = (['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const)[token.depth - 1] ?? 'h6'
  return (
    <Tag dir={dir} data-depth={token.depth}>
      <MarkdownInline tokens={token.tokens} />
    </Tag>
  )
}

/** The list has the direction, not its items: its markers are in the list's padding. */
function List(props: { readonly token: Tokens.List; readonly dir: Direction }): ReactNode {
  const { token, dir } = props
  const items = token.items.map((item, index) => (
    <li key={index}>
      <Blocks tokens={item.tokens} />
    </li>
  ))
  const start = token.start === '' ? 1 : token.start
  if (!token.ordered) return <ul dir={dir}>{items}</ul>
  return (
    <ol dir={dir} start={start}>
      {items}
    </ol>
  )
}

function Table({ token }: { readonly token: Tokens.Table }): ReactNode {
  const strings = useStrings()
  const cells = (row: readonly Tokens.TableCell[], Tag: 'th' | 'td') =>
    row.map((cell, index) => (
      <Tag key={index} data-align={cell.align ?? undefined}>
        <MarkdownInline tokens={cell.tokens} />
      </Tag>
    ))
  return (
    // Focusable, so that a wide table can be scrolled by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reached by the keyboard
    <section className="hf-table" aria-label={strings.table} tabIndex={0}>
      <table dir="auto">
        <thead>
          <tr>{cells(token.header, 'th')}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
