import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nodePackage } from '../../scripts/node-package.mjs'

const nodes = join(import.meta.dirname, '../nodes')

export type FoundNode =
  | { readonly kind: 'found'; readonly program: string; readonly version: string }
  /** npm has no such Node for this platform. */
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'not-installed'; readonly reason: string }

/** The Nodes besides the newest that the package promises to run on; folders of test/nodes/. */
export const promisedNodes = ['node-22', 'node-24'] as const

/** A Node that is installed beside the one that runs everything else. */
export function findNode(
  folder: (typeof promisedNodes)[number] | 'node-20',
  { platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'> = process,
): FoundNode {
  const { name, program } = nodePackage(platform, arch)
  const { optionalDependencies } = JSON.parse(
    readFileSync(join(nodes, folder, 'package.json'), 'utf8'),
  ) as { readonly optionalDependencies: Readonly<Record<string, string>> }
  const version = optionalDependencies[name]
  if (version === undefined) {
    return { kind: 'none', reason: `npm has no ${folder} for ${platform} on ${arch}` }
  }
  const path = join(nodes, folder, 'node_modules', name, program)
  return existsSync(path)
    ? { kind: 'found', program: path, version }
    : { kind: 'not-installed', reason: `${name} ${version} is not installed: run npm install` }
}
