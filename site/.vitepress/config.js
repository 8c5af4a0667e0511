import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toAnchor } from '../anchor.js'
import { outline } from '../outline.ts'

const site = join(dirname(fileURLToPath(import.meta.url)), '..')
const pages = join(site, '.pages')
const titleOf = (path) =>
  /^# (.+?)\s*$/m.exec(readFileSync(join(pages, path), 'utf8'))?.[1].replaceAll('`', '') ?? path
const { repository } = JSON.parse(readFileSync(join(site, '../package.json'), 'utf8'))
const repositoryUrl = repository?.url.replace(/^git\+/, '').replace(/\.git$/, '')

const api = readdirSync(join(pages, 'api'))
  .sort((one, other) => one.length - other.length || one.localeCompare(other))
  .map((file) => ({ text: titleOf(`api/${file}`), link: `/api/${file}` }))

const sidebar = [
  ...outline.map(({ title, pages: listed }) => ({
    text: title,
    items: listed.map(({ path }) => ({ text: titleOf(path), link: `/${path}` })),
  })),
  { text: 'API reference', collapsed: true, items: api },
  {
    text: 'Decisions',
    collapsed: true,
    items: [
      { text: 'All of them', link: '/decisions/' },
      ...readdirSync(join(pages, 'decisions'))
        .filter((file) => file !== 'index.md')
        .sort()
        .map((file) => ({ text: titleOf(`decisions/${file}`), link: `/decisions/${file}` })),
    ],
  },
]

export default {
  srcDir: '.pages',
  outDir: 'dist',
  base: process.env.HOLDFAST_DOCS_BASE ?? '/',
  lang: 'en',
  title: 'Holdfast',
  description:
    'A chat backend and UI kit for AI agents that use tools, in which the database is the only truth.',
  cleanUrls: true,
  lastUpdated: false,
  head: [
    [
      'link',
      {
        rel: 'icon',
        type: 'image/svg+xml',
        href: `${process.env.HOLDFAST_DOCS_BASE ?? '/'}icon.svg`,
      },
    ],
  ],
  markdown: {
    anchor: { slugify: toAnchor },
    theme: { light: 'github-light', dark: 'github-dark' },
    config: (md) => {
      // Pages are Vue templates here, and two braces are an expression there; in the docs they are two braces.
      for (const rule of ['code_inline', 'text']) {
        const render = md.renderer.rules[rule]
        md.renderer.rules[rule] = (...args) => render(...args).replaceAll('{{', '&#123;&#123;')
      }
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'Start', link: '/guides/start' },
      { text: 'Guarantees', link: '/guarantees' },
      { text: 'Options', link: '/guides/options' },
      { text: 'API', link: '/api/holdfast' },
    ],
    sidebar,
    outline: { level: [2, 3] },
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            // Whoever types a word wants the guide first, then the rules, then the types.
            boostDocument: (id) =>
              id.includes('/api/') ? 0.3 : /\/(?:spec|decisions)/.test(id) ? 0.6 : 1.5,
          },
        },
      },
    },
    ...(repositoryUrl === undefined
      ? {}
      : { socialLinks: [{ icon: 'github', link: repositoryUrl }] }),
    footer: { message: 'MIT license' },
  },
}
