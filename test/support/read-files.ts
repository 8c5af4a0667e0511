import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Path relative to the project, with `/` on every system, and the text. */
export type Files = ReadonlyMap<string, string>

const PROJECT = join(import.meta.dirname, '../..')

export function readFiles(...patterns: readonly string[]): Files {
  const exclude = ['**/node_modules/**', '**/dist/**', '**/fixtures/**']
  const paths = globSync(patterns, { cwd: PROJECT, exclude }).map((path) =>
    path.replaceAll('\\', '/'),
  )
  return new Map(
    paths.toSorted().map((path) => [path, readFileSync(join(PROJECT, path), 'utf8')] as const),
  )
}

export function readProjectFile(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8')
}
