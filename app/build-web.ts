import { globSync, statSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

const project = join(import.meta.dirname, '..')

/** Where the page is once it is built. */
export const webFolder = join(import.meta.dirname, 'dist')

/** Builds the page if that has not been done since its sources changed: one command starts everything. */
export async function buildWeb(): Promise<void> {
  if (isFresh()) return
  const { build } = await import('vite')
  const outDir = join(import.meta.dirname, `dist-${process.pid}`)
  const configFile = join(import.meta.dirname, 'web/vite.config.ts')
  // A test that builds the page must get the one that people get.
  const { NODE_ENV: before } = process.env
  process.env['NODE_ENV'] = 'production'
  await build({ configFile, build: { outDir, emptyOutDir: true } })
  if (before === undefined) delete process.env['NODE_ENV']
  else process.env['NODE_ENV'] = before
  await replaceFolder(outDir, webFolder)
}

/** In one step: two that start at once may both build, and neither may serve half a page. */
async function replaceFolder(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    // The other one was faster, with the same sources.
    await rm(from, { recursive: true })
  }
}

/** What the page is made of: its own files, and the layers of the package that run in a browser. */
const sources = [
  'app/web/**/*.{ts,tsx,css,html,svg}',
  'src/{core,views,protocol,client,react,widgets}/**/*.{ts,tsx,css}',
]

function isFresh(): boolean {
  const built = statSync(join(webFolder, 'index.html'), { throwIfNoEntry: false })
  if (built === undefined) return false
  return sources
    .flatMap((pattern) => globSync(pattern, { cwd: project }))
    .every((file) => statSync(join(project, file)).mtimeMs <= built.mtimeMs)
}
