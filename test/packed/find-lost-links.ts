import { posix } from 'node:path'
import { linkPattern } from '../../scripts/published-files.ts'

/** The links of a page that lead to none of these files, nor to a folder that one of them is in. */
export const findLostLinks = (
  page: string,
  markdown: string,
  files: readonly string[],
): readonly string[] =>
  [...withoutCode(markdown).matchAll(linkPattern)]
    .map(([, , address = '']) => address)
    .filter((address) => {
      const path = posix.join(posix.dirname(page), address.split('#')[0] ?? '')
      const folder = path.endsWith('/') ? path : `${path}/`
      return !files.some((file) => file === path || file.startsWith(folder))
    })
    .map((address) => `${page}: ${address}`)

/** What looks like a link in code is none. */
const withoutCode = (markdown: string): string =>
  markdown.replaceAll(/^ *```[^]*?^ *```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
