import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toProse } from '../../scripts/api-reference.ts'
import { readAnchors, readLinks, readTitle, rewriteLinks } from '../../scripts/doc-links.ts'
import { toLlmsIndex } from '../../scripts/llms-index.ts'
import { toSitePages } from '../../scripts/site-pages.ts'
import { outline } from '../../site/outline.ts'
import { readFiles } from '../support/read-files.ts'

const project = join(import.meta.dirname, '../..')
const docs = readFiles('docs/**/*.md')
const pages = readFiles('*.md', 'docs/**/*.md', 'examples/**/*.md')
const listed = outline.flatMap((group) => group.pages.map(({ path }) => path))

describe('the docs', () => {
  it('[DO1] stand in the outline of the site, each once: site/outline.ts', () => {
    const written = [...docs.keys()]
      .map((file) => posix.relative('docs', file))
      .filter((path) => !path.startsWith('decisions/'))
    expect(listed.toSorted()).toEqual(written.toSorted())
  })

  it('[DO1] have a title, and a line about them that ends', () => {
    for (const [file, text] of docs) expect([file, readTitle(text)]).not.toEqual([file, ''])
    for (const { path, about } of outline.flatMap((group) => group.pages)) {
      expect([path, about]).toEqual([path, expect.stringMatching(/^[^\n]{20,120}\.$/)])
    }
  })

  it('[DO1] have no link to a page, a file or a heading that is not there', () => {
    const dead = [...pages].flatMap(([page, text]) =>
      readLinks(page, text)
        .filter(({ target, anchor }) => {
          if (!existsSync(join(project, target))) return true
          const linked = pages.get(target)
          return anchor !== '' && linked !== undefined && !readAnchors(linked).has(anchor)
        })
        .map(({ line, target, anchor }) => `${page}:${line}: ${target}${anchor && `#${anchor}`}`),
    )
    expect(dead).toEqual([])
  })

  it('[DO1] can all be reached from the README', () => {
    const reached = new Set(['README.md'])
    for (const page of reached) {
      for (const { target } of readLinks(page, pages.get(page) ?? '')) {
        if (pages.has(target)) reached.add(target)
        if (target === 'docs/decisions/') {
          for (const file of docs.keys()) if (file.startsWith(target)) reached.add(file)
        }
      }
    }
    expect([...docs.keys()].filter((file) => !reached.has(file))).toEqual([])
  })

  it('[DO2] have an index for machines that says what is there: npm run docs:index', () => {
    expect(readFileSync(join(project, 'docs/llms.txt'), 'utf8')).toBe(toLlmsIndex(outline, docs))
  })
})

describe('the pages of the site', () => {
  const api = new Map([['api/holdfast.md', '# holdfast\n']])
  const site = toSitePages({ docs, api, outline, repository: 'https://example.com/holdfast' })

  it('[DO1] link to pages of the site, or to the repository', () => {
    const links = [...site].flatMap(([page, text]) =>
      [...text.matchAll(/\]\((\/[^)#\s]*)[^)]*\)/g)].map(([, target = '']) => ({ page, target })),
    )
    expect(links.length).toBeGreaterThan(100)
    const dead = links.filter(
      ({ target }) =>
        !site.has(target.slice(1)) && target !== '/decisions/' && !target.startsWith('/images/'),
    )
    expect(dead).toEqual([])
    expect([...site.values()].join('\n')).not.toMatch(/\]\(\.\.?\//)
  })

  it('[DO1] name what is not on the site where there is no repository to link to', () => {
    const own = new Map([['docs/a.md', '# A\n\n[`an example`](../examples/a.ts), [b](b.md#c)\n']])
    const sources = { docs: own, api: new Map(), outline: [] }
    expect(toSitePages({ ...sources, repository: null }).get('a.md')).toBe(
      '# A\n\n`an example`, b\n',
    )
    expect(toSitePages({ ...sources, repository: 'https://e.com' }).get('a.md')).toBe(
      '# A\n\n[`an example`](https://e.com/blob/main/examples/a.ts), [b](https://e.com/blob/main/docs/b.md#c)\n',
    )
  })
})

describe('what reads them', () => {
  it('[DO1] finds links outside of code, and headings as GitHub names them', () => {
    const text =
      '# One `two`, three\n\n[a](b.md#c) `[x](y.md)` [`q`](https://e.com)\n```\n[z](z.md)\n```\n## One two three\n'
    expect(readLinks('docs/a.md', text)).toEqual([{ line: 3, target: 'docs/b.md', anchor: 'c' }])
    expect([...readAnchors(text)]).toEqual(['one-two-three', 'one-two-three-1'])
  })

  it('[DO1] leaves code alone when it gives links another address', () => {
    const text = '[a](b.md)\n```md\n[a](b.md)\n```\n'
    expect(rewriteLinks(text, () => '/c')).toBe('[a](/c)\n```md\n[a](b.md)\n```\n')
  })

  it('[DO3] makes prose of a comment: tags, links, examples, and no element of it', () => {
    expect(
      toProse('Takes {@link Store} or <x>.\n@default 3\n@example\nopen()\n@throws never'),
    ).toBe('Takes `Store` or &lt;x>.\n\n**Default:** 3\n\n```ts\nopen()\n```\n\n**Throws** never')
  })
})
