import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageVersion } from '../core/package-version.ts'
import { CliError } from './cli-error.ts'

/** In the package and in a clone alike: two folders above this file. */
const template = fileURLToPath(new URL('../../templates/chat/', import.meta.url))

/** Files that an otherwise empty folder may contain. */
const harmless: ReadonlySet<string> = new Set(['.git', '.DS_Store', 'Thumbs.db'])

/** The content of a folder that must be empty; empty if the folder does not exist. */
export async function listContent(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => !harmless.has(name)).sort()
  } catch (error) {
    switch ((error as NodeJS.ErrnoException).code) {
      case 'ENOENT':
        return []
      case 'ENOTDIR':
        throw new CliError(`${folder} is a file, or lies in one. Name a folder.`, { cause: error })
      default:
        throw error
    }
  }
}

/**
 * Writes the template and returns the paths of its files. All or nothing: no existing file is overwritten, and if one
 * cannot be written, those before it are removed.
 */
export async function writeTemplate(folder: string): Promise<readonly string[]> {
  const files = await readTemplate(folder)
  const made: string[] = []
  const written: string[] = []
  try {
    for (const [path, text] of files) {
      const target = join(folder, path)
      await makeFolder(dirname(resolve(target)), made)
      await writeFile(target, text, { flag: 'wx' })
      written.push(target)
    }
  } catch (error) {
    for (const file of written) await rm(file, { force: true })
    // Only folders that are empty again: another program may have put something there meanwhile.
    for (const place of made.reverse()) await rmdir(place).catch(() => undefined)
    const { code, message } = error as NodeJS.ErrnoException
    throw new CliError(
      `${folder} cannot be written to (${code ?? message}). Nothing was left there; name another folder.`,
      { cause: error },
    )
  }
  return [...files.keys()]
}

/**
 * Creates the folder with its parents. Not with the `recursive` option of mkdir, which never ends on a file system that
 * rejects folders and reports that there is no parent, such as /proc.
 */
async function makeFolder(folder: string, made: string[]): Promise<void> {
  try {
    await mkdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || dirname(folder) === folder || existsSync(dirname(folder))) throw error
    await makeFolder(dirname(folder), made)
    await mkdir(folder)
  }
  made.push(folder)
}

async function readTemplate(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(template, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(template.length))
    .sort()
  const files = new Map<string, string>()
  for (const path of paths) {
    const text = await readFile(join(template, path), 'utf8')
    files.set(toTargetName(path), path === '_package.json' ? toManifest(text, folder) : text)
  }
  return files
}

/**
 * Under their own names these files would affect this project, and npm leaves a `.gitignore` out of what it publishes.
 */
const toTargetName = (path: string): string =>
  path.replace('_gitignore', '.gitignore').replace(/^_/, '')

function toManifest(text: string, folder: string): string {
  const manifest = JSON.parse(text) as { readonly dependencies: Readonly<Record<string, string>> }
  const dependencies = { ...manifest.dependencies, holdfast: `^${packageVersion}` }
  return `${JSON.stringify({ ...manifest, name: toPackageName(folder), dependencies }, null, 2)}\n`
}

/** A valid npm package name, as close to the folder's name as possible. */
export function toPackageName(folder: string): string {
  const name = basename(resolve(folder))
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[._-]+|[._-]+$/g, '')
    .slice(0, 200)
  return name === '' || name === 'holdfast' || name === 'node_modules' ? 'chat' : name
}
