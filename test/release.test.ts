import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { findReleaseProblems, type ReleaseState } from '../scripts/release-problems.ts'

const project = join(import.meta.dirname, '..')
const release = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  spawnSync(
    process.execPath,
    ['--conditions=holdfast-source', 'scripts/release.ts', ...args],
    // A workflow that runs these tests has a tag of its own.
    { cwd: project, encoding: 'utf8', env: { ...process.env, GITHUB_REF_TYPE: '', ...env } },
  )

const ready: ReleaseState = {
  version: '1.2.3',
  lockfileVersions: ['1.2.3', '1.2.3'],
  sourceVersion: '1.2.3',
  changelog: '# Changelog\n\n## 1.2.3 (2026-01-31)\n\n- New.\n\n## 1.2.2 (2026-01-01)\n',
  tag: 'v1.2.3',
}

describe('a release', () => {
  it('is possible for what is here under its own version, and under no other', () => {
    expect(release([])).toMatchObject({
      status: 0,
      stdout: `Everything says ${packageJson.version}.\n`,
    })
    const wrong = release([], { GITHUB_REF_TYPE: 'tag', GITHUB_REF_NAME: 'v0.0.1' })
    expect(wrong.status).toBe(1)
    expect(wrong.stderr).toContain(`it has to be v${packageJson.version}.`)
    expect(release(['--publish'])).toMatchObject({ status: 2, stdout: '' })
  })

  it('needs one version everywhere', () => {
    expect(findReleaseProblems(ready)).toEqual([])
    expect(findReleaseProblems({ ...ready, version: '1.2.3-rc.1' })).toHaveLength(4)
  })

  it.each([
    [{ tag: 'v1.2.4' }, 'The tag is v1.2.4'],
    [{ tag: '1.2.3' }, 'it has to be v1.2.3'],
    [{ lockfileVersions: ['1.2.3', '1.2.2'] }, 'package-lock.json says 1.2.3 and 1.2.2'],
    [{ sourceVersion: '1.2.2' }, 'src/core/package-version.ts says 1.2.2'],
    [{ changelog: '## 1.2.2 (2026-01-01)' }, 'CHANGELOG.md begins with 1.2.2'],
    [{ changelog: 'nothing yet' }, 'CHANGELOG.md begins with no version'],
    [{ changelog: '## 1.2.3 (unreleased)' }, 'still calls 1.2.3 unreleased'],
    [{ changelog: '## 1.2.3 (soon)' }, 'is followed by its date'],
    [{ changelog: '## 1.2.3' }, 'is followed by its date'],
  ])('is refused for %j', (change, problem) => {
    expect(findReleaseProblems({ ...ready, ...change })).toEqual([expect.stringContaining(problem)])
  })
})
