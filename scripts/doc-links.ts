import { posix } from 'node:path'
import { toAnchor } from '../site/anchor.js'

/** A link of a page to something of this repository. */
export interface DocLink {
  readonly line: number
  /** From the root of the repository; a folder ends in a slash. */
  readonly target: string
  /** Without its `#`; empty if the link has none. */
  readonly anchor: string
}

const link = /(?<!\\)\]\(\s*([^)\s]+)(?:\s+"[^"]*")?\s*\)/g

/** Every relative link of a page, outside of code. */
export function readLinks(page: string, markdown: string): readonly DocLink[] {
  return withoutCode(markdown)
    .split('\n')
    .flatMap((text, index) =>
      [...text.matchAll(link)].flatMap(([, href = '']) => {
        const found = resolveLink(page, href)
        return found === null ? [] : [{ line: index + 1, ...found }]
      }),
    )
}

/** Where a link of a page leads in this repository; null if it leads elsewhere. */
export function resolveLink(page: string, href: string): Omit<DocLink, 'line'> | null {
  if (/^[a-z][a-z0-9+.-]*:|^\/\//i.test(href)) return null
  const [path = '', anchor = ''] = href.split('#')
  const target = path === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(path))
  return { target, anchor: decodeURIComponent(anchor) }
}

/** The anchors of a page: those of its headings. Two of one name are told apart by a number. */
export function readAnchors(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutBlocks(markdown).matchAll(/^#{1,6}\s+(.+?)\s*$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const anchor = toAnchor(plain)
    let name = anchor
    for (let count = 1; anchors.has(name); count++) name = `${anchor}-${count}`
    anchors.add(name)
  }
  return anchors
}

/** The first heading. */
export const readTitle = (markdown: string): string =>
  /^# (.+?)\s*$/m.exec(withoutBlocks(markdown))?.[1] ?? ''

/** Gives each link outside of code another address, or none: then its text stands alone. */
export function rewriteLinks(markdown: string, rewrite: (href: string) => string | null): string {
  return markdown.replaceAll(
    /(^ *```[\s\S]*?^ *```)|(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*([^)\s]+)\s*\)/gm,
    (whole: string, code: string | undefined, bang: string, text: string, href: string) => {
      if (code !== undefined) return whole
      const address = rewrite(href)
      return address === null ? text : `${bang}[${text}](${address})`
    },
  )
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

const withoutBlocks = (markdown: string): string =>
  markdown.replaceAll(/^ *```[\s\S]*?^ *```/gm, blank).replaceAll(/<!--[\s\S]*?-->/g, blank)

/** A link whose text is code stays one: only what stands between backticks goes. */
const withoutCode = (markdown: string): string =>
  withoutBlocks(markdown).replaceAll(/`[^`\n]*`/g, blank)
