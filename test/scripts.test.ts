import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }

const project = join(import.meta.dirname, '..')

/** The scripts of package.json that are files of this project, as npm would run them. */
const scripts = Object.entries(packageJson.scripts).flatMap(([name, command]) => {
  const [program, ...args] = command.split(' ')
  return program === 'node' ? [{ name, args }] : []
})

const run = (args: readonly string[]) =>
  spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' })

function refuses(args: readonly string[], option: string): void {
  const { status, stdout, stderr } = run([...args, option])
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  expect(stderr).toContain(option)
}

describe.each(scripts)('npm run $name', ({ args }) => {
  it('says with --help how it is used, and does nothing', () => {
    const { status, stdout, stderr } = run([...args, '--help'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/^(?:npm |holdfast serve )/)
  })

  it('refuses --no-such-option', () => refuses(args, '--no-such-option'))
})

// The one reads its arguments as the command `holdfast` does, the other as all other scripts do.
it.each(scripts.filter(({ name }) => ['start', 'test'].includes(name)))(
  'npm run $name refuses -z',
  ({ args }) => refuses(args, '-z'),
)

it.each([
  { script: 'scripts/screenshots.ts', args: ['folder', 'no-such-screen'] },
  { script: 'scripts/screenshots.ts', args: ['folder', 'weather', 'more'] },
  { script: 'scripts/simulate.ts', args: ['--seeds', 'many'] },
  { script: 'scripts/simulate.ts', args: ['--store', 'paper'] },
  { script: 'scripts/simulate.ts', args: ['10'] },
  { script: 'scripts/torture.ts', args: ['--minutes', 'many'] },
  { script: 'scripts/torture.ts', args: ['--seed', 'x'] },
  { script: 'scripts/torture.ts', args: ['--store', 'paper'] },
  { script: 'scripts/build.ts', args: ['folder'] },
  { script: 'bench/run.ts', args: ['no-such-section'] },
])('$script refuses $args', ({ script, args }) => {
  const before = readdirSync(project)
  const { status, stderr } = run(['--conditions=holdfast-source', script, ...args])
  expect(status).toBe(2)
  expect(stderr).toMatch(/\n\nnpm run /)
  expect(readdirSync(project)).toEqual(before)
})

// It is a bash script, for systems that have namespaces.
describe.skipIf(process.platform === 'win32')('scripts/clean-machine.sh', () => {
  const clean = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    spawnSync('bash', [join(project, 'scripts/clean-machine.sh'), ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...env },
    })

  it('runs a command here, and says so, where there are no namespaces', () => {
    // A path on which everything is found but `unshare`.
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-path-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const name of ['bash', 'dirname', 'git', 'id', 'mount']) {
      const found = (process.env['PATH'] ?? '')
        .split(delimiter)
        .find((place) => spawnSync('test', ['-x', join(place, name)]).status === 0)
      if (found !== undefined) symlinkSync(join(found, name), join(folder, name))
    }
    const { status, stdout } = clean(['echo "in $PWD"; exit 7'], { PATH: folder })
    expect(status).toBe(7)
    expect(stdout).toMatch(
      /^clean-machine: not possible here \(there is no \w+\); the command runs in this folder, .*\nin .*\n$/,
    )
    expect(stdout).toContain(`\nin ${project}\n`)
  })

  it('gives back what the command ended with, clean or not', () => {
    const { status, stdout } = clean(['echo "found $(ls -A /tmp | wc -l)"; exit 3'])
    expect(status).toBe(3)
    expect(stdout).toMatch(/clean-machine: (?:a new clone[^]*\nfound 0\n$|not possible here)/)
  })

  it.each([[[]], [['--what']], [['true', 'more']]])('refuses %j', (args) => {
    expect(clean(args)).toMatchObject({ status: 2, stdout: '' })
  })
})
