// npm run docs:build, docs:dev, docs:index: the site of the docs, and their index for machines.

import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { outline } from '../site/outline.ts'
import { readFiles } from '../test/support/read-files.ts'
import { toApiReference } from './api-reference.ts'
import { toLlmsIndex } from './llms-index.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'
import { toSitePages } from './site-pages.ts'
import packageJson from '../package.json' with { type: 'json' }

const usage = `npm run docs:build
npm run docs:dev
npm run docs:index

build makes the site of docs/ in site/dist, a folder that any web server can serve; dev serves it and follows changes. Both install
VitePress into site/ the first time; after that they need no network. index writes docs/llms.txt.`
const { positionals } = parseScriptArguments({ usage, words: 1 })
const [verb = ''] = positionals
const project = join(import.meta.dirname, '..')
const site = join(project, 'site')
const staged = join(site, '.pages')

const readDocs = () => readFiles('docs/**/*.md')
const writePage = (path: string, text: string) => {
  const file = join(staged, path)
  mkdirSync(dirname(file), { recursive: true })
  // A file that is written anew is drawn anew: what has not changed is left alone.
  if (!existsSync(file) || readFileSync(file, 'utf8') !== text) writeFileSync(file, text)
}

switch (verb) {
  case 'index':
    writeFileSync(join(project, 'docs/llms.txt'), toLlmsIndex(outline, readDocs()))
    console.log('Wrote docs/llms.txt.')
    break
  case 'build':
    install()
    rmSync(staged, { recursive: true, force: true })
    writePages(describeApi())
    process.exitCode = await runVitePress('build')
    writeForMachines()
    break
  case 'dev': {
    install()
    // The reference takes seconds to make, so it is made once; pages follow their files.
    const api = describeApi()
    writePages(api)
    const following = watch(join(project, 'docs'), { recursive: true }, () => writePages(api))
    process.exitCode = await runVitePress('dev')
    following.close()
    break
  }
  default:
    refuseArguments(`"${verb}" is none of build, dev and index.`, usage)
}

/** VitePress brings a Vite of its own, so it has a folder of its own, and nobody else waits for it. */
function install(): void {
  if (existsSync(join(site, 'node_modules/vitepress'))) return
  if (runCommand('npm', ['ci', '--no-audit', '--no-fund'], { cwd: site }) !== 0) {
    throw new Error(
      'VitePress could not be installed, see above. The docs are in docs/ all the same.',
    )
  }
}

function describeApi(): ReadonlyMap<string, string> {
  return new Map(toApiReference().map(({ path, markdown }) => [path, markdown]))
}

function writePages(api: ReadonlyMap<string, string>): void {
  const pages = toSitePages({
    docs: readDocs(),
    api,
    outline,
    repository: repositoryOf(packageJson),
  })
  for (const [path, text] of pages) writePage(path, text)
  writePage('index.md', readFileSync(join(site, 'home.md'), 'utf8'))
  cpSync(join(project, 'docs/images'), join(staged, 'public/images'), { recursive: true })
  cpSync(join(project, 'app/web/public/icon.svg'), join(staged, 'public/icon.svg'))
}

/** The index, and each page as the Markdown that it was, beside the page. */
function writeForMachines(): void {
  const docs = readDocs()
  for (const [file, text] of docs) {
    const copy = join(site, 'dist', relative('docs', file))
    mkdirSync(dirname(copy), { recursive: true })
    writeFileSync(copy, text)
  }
  writeFileSync(join(site, 'dist/llms.txt'), toLlmsIndex(outline, docs))
}

function repositoryOf(manifest: {
  readonly name: string
  readonly repository?: { readonly url: string }
}): string | null {
  return manifest.repository?.url.replace(/^git\+/, '').replace(/\.git$/, '') ?? null
}

function runVitePress(command: 'build' | 'dev'): Promise<number> {
  const program = join(site, 'node_modules/vitepress/bin/vitepress.js')
  const child = spawn(process.execPath, [program, command, site], { stdio: 'inherit' })
  return new Promise((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1))
  })
}
