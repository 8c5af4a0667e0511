// Makes the package that is published, in package/. Not straight from the project's folder: its
// package.json pins a Node for development, which no user of the package should be made to install.

import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')
const target = join(project, 'package')
const {
  scripts: _scripts,
  devDependencies: _devDependencies,
  optionalDependencies: _optionalDependencies,
  overrides: _overrides,
  exports,
  ...manifest
} = packageJson
const published = {
  ...manifest,
  exports: Object.fromEntries(
    Object.entries(exports).map(([name, entry]) => {
      if (typeof entry === 'string') return [name, entry]
      const { types, default: file } = entry
      return [name, { types, default: file }]
    }),
  ),
}

rmSync(target, { recursive: true, force: true })
mkdirSync(target)
writeFileSync(join(target, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
for (const name of ['dist', 'README.md', 'CHANGELOG.md', 'LICENSE']) {
  cpSync(join(project, name), join(target, name), { recursive: true })
}
process.exitCode = runCommand('npm', ['pack', './package'])
