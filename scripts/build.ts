// Makes dist/, or the folder that is named, and sees that it has every file that package.json's exports promise.

import { cpSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')
const dist = resolve(process.argv[2] ?? join(project, 'dist'))
rmSync(dist, { recursive: true, force: true })
const status = runCommand('tsc', ['-p', join(project, 'tsconfig.build.json'), '--outDir', dist])
if (status !== 0) process.exit(status)
cpSync(join(project, 'src/widgets/widgets.css'), join(dist, 'widgets/widgets.css'))
// TypeScript does not take a style sheet for what it imports; this says that there is nothing in it to type.
writeFileSync(join(dist, 'widgets/widgets.css.d.ts'), 'export {}\n')
// What is published says the version that it is published as, whatever the source says.
writeFileSync(
  join(dist, 'core/package-version.js'),
  `export const packageVersion = ${JSON.stringify(packageJson.version)};\n`,
)

const missing = Object.values(packageJson.exports)
  .flatMap((entry) => (typeof entry === 'string' ? [entry] : [entry.types, entry.default]))
  .filter((file) => !existsSync(join(dist, relative('dist', file))))
if (missing.length > 0) {
  console.error(`The build lacks what package.json exports:\n  ${missing.join('\n  ')}`)
  process.exit(1)
}
console.log(`Built ${process.argv[2] ?? 'dist/'}.`)
