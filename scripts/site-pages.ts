import { posix } from 'node:path'
import type { OutlineGroup } from '../site/outline.ts'
import { readTitle, resolveLink, rewriteLinks } from './doc-links.ts'

export interface SiteSources {
  /** The files of `docs/` in Markdown, by their path from the root of the repository. */
  readonly docs: ReadonlyMap<string, string>
  /** `api/….md`, generated. */
  readonly api: ReadonlyMap<string, string>
  readonly outline: readonly OutlineGroup[]
  /** `https://github.com/owner/name`, for what is not on the site; null: it is named and not linked. */
  readonly repository: string | null
}

/** The pages of the site by their path on it. Every link leads to a page of it, to the repository or nowhere. */
export function toSitePages({
  docs,
  api,
  outline,
  repository,
}: SiteSources): ReadonlyMap<string, string> {
  const about = new Map(
    outline.flatMap(({ pages }) => pages.map((page) => [page.path, page.about] as const)),
  )
  const pages = new Map<string, string>()
  for (const [file, markdown] of docs) {
    const path = posix.relative('docs', file)
    const rewritten = rewriteLinks(markdown, (href) => toSiteLink(file, href, docs, repository))
    pages.set(path, withDescription(rewritten, about.get(path)))
  }
  for (const [path, markdown] of api) pages.set(path, markdown)
  pages.set('decisions/index.md', toDecisions(docs))
  return pages
}

function toSiteLink(
  page: string,
  href: string,
  docs: ReadonlyMap<string, string>,
  repository: string | null,
): string | null {
  const found = resolveLink(page, href)
  if (found === null) return href
  const { target, anchor } = found
  const end = anchor === '' ? '' : `#${anchor}`
  if (docs.has(target)) return `/${posix.relative('docs', target)}${end}`
  if (/^docs\/decisions\/?$/.test(target)) return '/decisions/'
  if (target.startsWith('docs/images/')) return `/${posix.relative('docs', target)}`
  return repository === null ? null : `${repository}/blob/main/${encodeURI(target)}${end}`
}

/** Front matter is the site's own: in the repository pages begin with their heading. */
const withDescription = (markdown: string, about: string | undefined): string =>
  about === undefined ? markdown : `---\ndescription: ${JSON.stringify(about)}\n---\n\n${markdown}`

function toDecisions(docs: ReadonlyMap<string, string>): string {
  const rows = [...docs]
    .filter(([path]) => path.startsWith('docs/decisions/'))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, markdown]) => `- [${readTitle(markdown)}](/${posix.relative('docs', path)})`)
  return `# Decisions\n\nWhy it is so, where somebody will ask.\n\n${rows.join('\n')}\n`
}
