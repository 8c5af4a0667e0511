import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import advisories from '../security/advisories.json' with { type: 'json' }
import lockfile from '../package-lock.json' with { type: 'json' }
import peersLockfile from '../bench/peers/package-lock.json' with { type: 'json' }
import siteLockfile from '../site/package-lock.json' with { type: 'json' }
import {
  findLockfileProblems,
  findMissingPackages,
  isInRange,
  type Lockfile,
} from '../scripts/lockfile-audit.ts'

const script = join(import.meta.dirname, '../scripts/audit-lockfile.ts')
const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })

const withPackage = (path: string, entry: object): Lockfile => ({
  packages: { ...(lockfile as unknown as Lockfile).packages, [path]: entry },
})
const integrity = 'sha512-xxx'

describe('the audit of the lockfile', () => {
  it('[HT7] finds nothing in what this project depends on', () => {
    expect(run()).toMatchObject({ status: 0, stderr: '' })
  })

  it.each([
    ['the project', lockfile],
    ['the docs site', siteLockfile],
    ['the peers of the benchmark', peersLockfile],
  ])('[HT7] finds all that the lockfile of %s names, of every platform', (_, given) => {
    const { packages } = given as unknown as Lockfile
    expect(findMissingPackages({ packages })).toEqual([])
    const needing = Object.values(packages).find((locked) => locked.optionalDependencies)
    const [name = ''] = Object.keys(needing?.optionalDependencies ?? {})
    const left = Object.entries(packages).filter(([at]) => !at.endsWith(`node_modules/${name}`))
    expect(findMissingPackages({ packages: Object.fromEntries(left) })).toContainEqual(
      expect.stringContaining(` needs ${name}, which is not there.`),
    )
  })

  it('[HT7] stops at a version that is on the list, wherever in the tree it is', () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-audit-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'package-lock.json')
    const path = 'node_modules/ai/node_modules/next'
    writeFileSync(file, JSON.stringify(withPackage(path, { version: '16.0.6', integrity })))
    const { status, stdout, stderr } = run('--lockfile', file)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toBe(
      `next 16.0.6 (${path}): Remote code execution through React server components (GHSA-9qr9-h5gf-34mp)\n`,
    )
  })

  it.each([
    [
      'under another name',
      'node_modules/alias',
      { name: 'debug', version: '4.4.2', integrity },
      /malware/,
    ],
    ['without a checksum', 'node_modules/some', { version: '1.0.0' }, /no checksum/],
    [
      'with a weak checksum',
      'node_modules/some',
      { version: '1.0.0', integrity: 'sha1-x' },
      /no checksum/,
    ],
    [
      'from anywhere',
      'node_modules/some',
      { version: '1.0.0', integrity, resolved: 'http://a.example/b.tgz' },
      /https/,
    ],
    [
      'from a repository',
      'node_modules/some',
      { version: '1.0.0', integrity, resolved: 'git+ssh://git@a.example/b' },
      /https/,
    ],
    [
      'that is accepted for tests, and is for users',
      'node_modules/undici',
      { version: '5.29.0', integrity },
      /GHSA-g9mf/,
    ],
    ['with no version', 'node_modules/undici', { version: '*', integrity }, /no version/],
  ])('[HT7] refuses a package %s', (_, path, entry, words) => {
    const find = () => {
      const problems = findLockfileProblems(withPackage(path, entry), advisories)
      throw new Error(problems.join('\n'))
    }
    expect(find).toThrow(words)
  })

  it('[HT7] keeps no exception for what is no longer there', () => {
    const accepted = [{ id: 'GHSA-1', package: 'gone', version: '1.0.0', because: 'it was' }]
    expect(findLockfileProblems({ packages: {} }, { ...advisories, accepted })).toEqual([
      'GHSA-1 is accepted for gone 1.0.0, which is not there.',
    ])
  })

  it.each([
    ['1.2.3', '<1.2.4', true],
    ['1.2.4', '<1.2.4', false],
    ['1.10.0', '<1.9.0', false],
    ['2.0.0-beta.2', '>=2.0.0', false],
    ['2.0.0-beta.2', '<2.0.0-beta.10', true],
    ['2.0.0-beta', '<2.0.0-beta.1', true],
    ['2.0.0-1', '<2.0.0-a', true],
    ['2.0.0+build', '=2.0.0', true],
    ['3.1.0', '<1.0.0 || >=3.0.0 <3.1.1', true],
    ['2.5.0', '<1.0.0 || >=3.0.0 <3.1.1', false],
    ['3.1.1', '<=3.1.1', true],
    ['3.1.1', '>3.1.1', false],
  ])('[HT7] %s is in %s: %s', (version, range, isIn) => {
    expect(isInRange(version, range)).toBe(isIn)
  })

  it.each(['^1.0.0', '1.0.0', '<1', ''])(
    '[HT7] does not guess what the range %j means',
    (range) => {
      expect(() => isInRange('1.0.0', range)).toThrow('This is no')
    },
  )

  it('[HT7] its list can be read to the end, and says when it was made', () => {
    expect(advisories.date).toMatch(/^\d{4}-\d{2}-\d{2}$/)
    for (const { vulnerable } of advisories.advisories) {
      expect(isInRange('999.0.0', vulnerable)).toBe(false)
    }
  })

  it('[HT7] says how it is used, and refuses what it does not know', () => {
    expect(run('--help')).toMatchObject({ status: 0, stderr: '' })
    expect(run('--what')).toMatchObject({ status: 2, stdout: '' })
  })
})
