import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const project = join(import.meta.dirname, '../..')

const npm = (...args: readonly string[]) =>
  spawnSync('npm', args, {
    cwd: project,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })

describe("the project's own folder", () => {
  it('is not packed by `npm pack`: it has no build, and leads to the sources', () => {
    const { status, stderr } = npm('pack', '--dry-run')
    expect(status).not.toBe(0)
    expect(stderr).toContain('Run `npm run pack`: it builds the package first.')
  })

  // npm runs `prepack` before a script called `pack` as well.
  it('does not keep `npm run pack` from packing the one that it builds', () => {
    const { status, stdout, stderr } = npm('run', 'pack', '--', '--help')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toContain('Builds the package that is published, in package/, and packs it.')
  })
})
