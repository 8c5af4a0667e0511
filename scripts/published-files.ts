import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }

const project = join(import.meta.dirname, '..')

/** Beside what is built: the docs are for people and programs offline, the sources are what "go to definition" and a debugger show. */
const pages = ['README.md', 'CHANGELOG.md', 'LICENSE']
const folders: Readonly<Record<string, RegExp>> = {
  bin: /\.js$/,
  docs: /\.(?:md|png|svg|txt)$/,
  src: /(?<!\.test)\.(?:tsx?|css)$/,
  templates: /./,
}

/** What tools keep beside their pages. */
const leftOut = /(?:^|\/)(?:\.[^/]+|node_modules|dist)\//

/** Paths of the project's files that are published as they are, from its folder, with `/`. */
function listPublishedFiles(): readonly string[] {
  const inFolders = Object.entries(folders).flatMap(([folder, fits]) =>
    listFiles(join(project, folder))
      .map((path) => `${folder}/${path}`)
      .filter((path) => fits.test(path) && !leftOut.test(path)),
  )
  return [...pages, ...inFolders]
}

/** The files below a folder, by their path from there, with `/`. */
export const listFiles = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/'))
    .toSorted()

/** Copies them. Pages get links that work where they are then. */
export function copyPublishedFiles(folder: string): void {
  const files = listPublishedFiles()
  const published = new Set(files)
  for (const path of files) {
    const target = join(folder, path)
    mkdirSync(dirname(target), { recursive: true })
    if (!/\.(?:md|txt)$/.test(path) || path.startsWith('templates/'))
      cpSync(join(project, path), target)
    else {
      const page = readFileSync(join(project, path), 'utf8')
      writeFileSync(
        target,
        toPublishedPage(page, path, (linked) => isIn(published, linked)),
      )
    }
  }
}

/**
 * A page whose links to files that are not in the package lead to the repository instead, at the tag of this version. Links to what
 * is published stay as they are.
 */
function toPublishedPage(
  page: string,
  path: string,
  isPublished: (path: string) => boolean,
): string {
  return page.replaceAll(linkPattern, (link, before: string, address: string) => {
    const [target = '', anchor] = address.split('#')
    const linked = posix.join(posix.dirname(path), target)
    if (target === '' || isPublished(linked) || linked.startsWith('..')) return link
    return `${before}${repositoryAddress(linked)}${anchor === undefined ? '' : `#${anchor}`}`
  })
}

/** Where a link or an image of a page leads, unless it is an address of the web: `](docs/spec.md`. */
export const linkPattern: RegExp = /(\]\()(?![a-z]+:|\/|#)([^\s)]+)/g

function repositoryAddress(path: string): string {
  const repository = packageJson.repository.url.replace(/^git\+|\.git$/g, '')
  const kind = existsSync(join(project, path)) && path.endsWith('/') ? 'tree' : 'blob'
  return `${repository}/${kind}/v${packageJson.version}/${path}`
}

/** A folder is in the package if anything of it is. */
function isIn(published: ReadonlySet<string>, path: string): boolean {
  const folder = path.endsWith('/') ? path : `${path}/`
  return published.has(path) || [...published].some((file) => file.startsWith(folder))
}
