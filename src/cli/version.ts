import { readFileSync } from 'node:fs'

/** From the package itself, which is two folders up, in the sources and in what is published. */
export function readVersion(): string {
  const file = new URL('../../package.json', import.meta.url)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version
}
