import type { MarkedToken, Token, Tokens } from 'marked'
import type { ReactNode } from 'react'
import { CodeBlock } from './code-block.tsx'
import { MarkdownInline } from './markdown-inline.tsx'

export function MarkdownBlock({ token }: { readonly token: Token }): ReactNode {
  const known = token as MarkedToken
  switch (known.type) {
    case 'paragraph':
      return (
        <p dir="auto">
          <MarkdownInline tokens={known.tokens} />
        </p>
      )
    case 'heading':
      return <Heading token={known} />
    case 'code':
      return <CodeBlock code={known.text} language={known.lang ?? ''} />
    case 'list':
      return <List token={known} />
    case 'table':
      return <Table token={known} />
    case 'blockquote':
      return (
        <blockquote dir="auto">
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
        <p dir="auto" className="hf-plain">
          {known.text}
        </p>
      )
    default:
      return <MarkdownInline tokens={[token]} />
  }
}

export function Blocks({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <MarkdownBlock key={index} token={token} />)
}

function Heading({ token }: { readonly token: Tokens.Heading }): ReactNode {
  // The page has its own first and second level.
  const Tag = (['h3', 'h4', 'h5', 'h6', 'h6', 'h6'] as const)[token.depth - 1] ?? 'h6'
  return (
    <Tag dir="auto" data-depth={token.depth}>
      <MarkdownInline tokens={token.tokens} />
    </Tag>
  )
}

function List({ token }: { readonly token: Tokens.List }): ReactNode {
  const items = token.items.map((item, index) => (
    <li key={index} dir="auto">
      <Blocks tokens={item.tokens} />
    </li>
  ))
  const start = token.start === '' ? 1 : token.start
  return token.ordered ? <ol start={start}>{items}</ol> : <ul>{items}</ul>
}

function Table({ token }: { readonly token: Tokens.Table }): ReactNode {
  const cells = (row: readonly Tokens.TableCell[], Tag: 'th' | 'td') =>
    row.map((cell, index) => (
      <Tag key={index} dir="auto" data-align={cell.align ?? undefined}>
        <MarkdownInline tokens={cell.tokens} />
      </Tag>
    ))
  return (
    // Focusable, so that a wide table can be scrolled by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <section className="hf-table" aria-label="Table" tabIndex={0}>
      <table>
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
