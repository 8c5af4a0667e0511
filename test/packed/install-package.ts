import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { buildPackage } from '../../scripts/build-package.ts'
import { packageVariable } from '../../scripts/package-variable.ts'

const project = join(import.meta.dirname, '../..')

export interface InstalledPackage {
  /** A user's project: what runs here imports `holdfast` as anybody would. */
  readonly folder: string
  /** The package in it. */
  readonly packageFolder: string
  /** The program that `npx holdfast` starts there. */
  readonly command: string
  /** The file that an export such as `./sqlite` leads to. */
  entry(name: string): string
  remove(): void
}

/**
 * The package as it is published: built, packed, and installed from its tarball into a new project far from
 * this one. Only the peers are shared with this project, which has them already; so nothing is
 * fetched.
 */
export function installPackage(): InstalledPackage {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-packed-'))
  const shared = process.env[packageVariable]
  if (shared === undefined) installTarball(folder)
  else copyInstalled(shared, folder)
  for (const peer of Object.keys(packageJson.peerDependencies)) {
    const link = join(folder, 'node_modules', peer)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(join(project, 'node_modules', peer), link, 'junction')
  }
  const installed = join(folder, 'node_modules/holdfast')
  const exports: Readonly<Record<string, { readonly default: string }>> = packageJson.exports
  return {
    folder,
    packageFolder: installed,
    command: join(installed, packageJson.bin.holdfast),
    entry: (name) => join(installed, exports[name]?.default ?? `no export ${name}`),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** npm installs once for all Nodes that `npm test` runs on: what it installs does not depend on them, and takes long. */
function copyInstalled(shared: string, folder: string): void {
  if (!existsSync(shared)) {
    const own = mkdtempSync(`${shared}-`)
    installTarball(own)
    // In one step: whoever finds it finds all of it.
    renameSync(own, shared)
  }
  for (const name of ['node_modules', 'package.json']) {
    cpSync(join(shared, name), join(folder, name), { recursive: true })
  }
}

function installTarball(folder: string): void {
  buildPackage(join(folder, 'package'))
  runNpm(folder, ['pack', './package'])
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const tarball = `./holdfast-${packageJson.version}.tgz`
  runNpm(folder, ['install', '--offline', '--legacy-peer-deps', tarball])
}

function runNpm(folder: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync('npm', [...args, '--no-audit', '--no-fund'], {
    cwd: folder,
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`, { cause: error })
}
