import type { MarkedToken, Token } from 'marked'
import { Fragment, type ReactNode } from 'react'
import { useStrings } from '../strings-context.tsx'
import { decodeReferences, safeHref, safeImage } from './safe-address.ts'

export function MarkdownInline({ tokens }: { readonly tokens: readonly Token[] }): ReactNode {
  return tokens.map((token, index) => <Fragment key={index}>{drawInline(token)}</Fragment>)
}

function drawInline(token: Token): ReactNode {
  const known = token as MarkedToken
  switch (known.type) {
    case 'text':
      return known.tokens === undefined ? (
        decodeReferences(known.text)
      ) : (
        <MarkdownInline tokens={known.tokens} />
      )
    case 'escape':
      return known.text
    case 'strong':
      return (
        <strong>
          <MarkdownInline tokens={known.tokens} />
        </strong>
      )
    case 'em':
      return (
        <em>
          <MarkdownInline tokens={known.tokens} />
        </em>
      )
    case 'del':
      return (
        <del>
          <MarkdownInline tokens={known.tokens} />
        </del>
      )
    case 'codespan':
      return <code>{known.text}</code>
    case 'br':
      return <br />
    case 'checkbox':
      return <Task isDone={known.checked} />
    case 'link':
      return <SafeLink href={known.href}>{<MarkdownInline tokens={known.tokens} />}</SafeLink>
    case 'image':
      return <SafeImage source={known.href} text={decodeReferences(known.text)} />
    default:
      return known.raw
  }
}

function SafeLink(props: { readonly href: string; readonly children: ReactNode }): ReactNode {
  const href = safeHref(props.href)
  if (href === undefined) return props.children
  if (href.startsWith('#')) return <a href={href}>{props.children}</a>
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      {props.children}
    </a>
  )
}

function SafeImage({
  source,
  text,
}: {
  readonly source: string
  readonly text: string
}): ReactNode {
  const safe = safeImage(source)
  if (safe !== undefined) return <img src={safe} alt={text} loading="lazy" />
  return <SafeLink href={source}>{text === '' ? source : text}</SafeLink>
}

function Task({ isDone }: { readonly isDone: boolean }): ReactNode {
  const strings = useStrings()
  return <input type="checkbox" checked={isDone} disabled readOnly aria-label={strings.task} />
}
