// Makes the package that is published, in package/, and packs it.

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedManifest } from './published-manifest.ts'
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')
const target = join(project, 'package')

rmSync(target, { recursive: true, force: true })
mkdirSync(target)
writeFileSync(join(target, 'package.json'), `${JSON.stringify(publishedManifest, null, 2)}\n`)
for (const name of ['dist', 'README.md', 'CHANGELOG.md', 'LICENSE']) {
  cpSync(join(project, name), join(target, name), { recursive: true })
}
process.exitCode = runCommand('npm', ['pack', './package'])
