import DOMPurify from 'dompurify'
import { marked } from 'marked'
import { type ReactNode, useMemo } from 'react'
import { closeOpenSyntax } from './close-open-syntax.ts'

export interface MarkdownProps {
  readonly text: string
  /** Still growing: what is half written is shown as if it were finished, so that nothing flashes. */
  readonly isStreaming?: boolean
}

/** Text from a model is not trusted: it is cleaned of everything that could run or reach out (HT5). */
export function Markdown({ text, isStreaming = false }: MarkdownProps): ReactNode {
  const html = useMemo(
    () => toSafeHtml(isStreaming ? closeOpenSyntax(text) : text),
    [text, isStreaming],
  )
  return <div className="hf-markdown" dir="auto" dangerouslySetInnerHTML={{ __html: html }} />
}

export function toSafeHtml(text: string): string {
  const html = marked.parse(text, { async: false, gfm: true, breaks: false })
  return DOMPurify.sanitize(html, {
    FORBID_TAGS: ['style', 'form', 'input', 'button', 'textarea', 'select', 'svg', 'math', 'iframe'],
    FORBID_ATTR: ['style', 'class', 'id', 'name', 'srcset'],
    // A picture from another host would tell that host who reads this.
    ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|#|\/(?!\/))/i,
    ADD_ATTR: ['target', 'rel'],
  })
}

DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName === 'A') {
    node.setAttribute('target', '_blank')
    node.setAttribute('rel', 'noopener noreferrer nofollow')
  }
  if (node.tagName === 'IMG' && /^https?:/i.test(node.getAttribute('src') ?? '')) {
    const link = node.ownerDocument.createElement('a')
    link.textContent = node.getAttribute('alt') ?? node.getAttribute('src')
    link.setAttribute('href', node.getAttribute('src') ?? '')
    link.setAttribute('target', '_blank')
    link.setAttribute('rel', 'noopener noreferrer nofollow')
    node.replaceWith(link)
  }
})
