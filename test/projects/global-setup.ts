import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import packageJson from '../../package.json' with { type: 'json' }
import { buildPackage } from '../../scripts/build-package.ts'
import { runCommand } from '../../scripts/run-command.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The tarball that `npm publish` would send. */
    readonly tarball: string
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tarball-'))
  buildPackage(join(folder, 'package'))
  if (runCommand('npm', ['pack', './package', '--silent'], { cwd: folder }) !== 0) {
    throw new Error('npm pack failed, see above.')
  }
  project.provide('tarball', join(folder, `holdfast-${packageJson.version}.tgz`))
  return () => rmSync(folder, { recursive: true, force: true })
}
