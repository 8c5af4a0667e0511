// Makes dist/ and sees that it has every file that package.json's exports promise.

import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')
rmSync(join(project, 'dist'), { recursive: true, force: true })
const status = runCommand('tsc', ['-p', 'tsconfig.build.json'])
if (status !== 0) process.exit(status)
// What is published says the version that it is published as, whatever the source said.
writeFileSync(
  join(project, 'dist/core/package-version.js'),
  `export const packageVersion = ${JSON.stringify(packageJson.version)};\n`,
)
cpSync(join(project, 'src/widgets/widgets.css'), join(project, 'dist/widgets/widgets.css'))

const missing = Object.values(packageJson.exports)
  .flatMap((entry) => (typeof entry === 'string' ? [entry] : [entry.types, entry.default]))
  .filter((file) => !existsSync(join(project, file)))
if (missing.length > 0) {
  console.error(`The build lacks what package.json exports:\n  ${missing.join('\n  ')}`)
  process.exit(1)
}
console.log('Built dist/.')
