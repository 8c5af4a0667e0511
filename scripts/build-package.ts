import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { joinStyles } from './join-styles.ts'
import { copyPublishedFiles, listFiles } from './published-files.ts'
import { runCommand } from './run-command.ts'

const project = join(import.meta.dirname, '..')

/** Makes `folder/dist` and sees that it has every file that package.json promises. */
export function buildDist(folder: string): void {
  const dist = join(folder, 'dist')
  rmSync(dist, { recursive: true, force: true })
  const options = ['-p', join(project, 'tsconfig.build.json'), '--outDir', dist]
  if (runCommand('tsc', options) !== 0) throw new Error('The build failed, see above.')
  writeFileSync(
    join(dist, 'widgets/widgets.css'),
    joinStyles(join(project, 'src/widgets/widgets.css')),
  )
  // TypeScript takes no style sheet for what it imports; this says that there is nothing in it to type.
  writeFileSync(join(dist, 'widgets/widgets.css.d.ts'), 'export {}\n')
  // What is published says the version that it is published as, whatever the source says.
  writeFileSync(
    join(dist, 'core/package-version.js'),
    `export const packageVersion = ${JSON.stringify(packageJson.version)};\n`,
  )
  rmSync(join(dist, 'core/package-version.js.map'))
  pointMapsAt(join(folder, 'src'), dist)

  const missing = Object.values(packageJson.exports)
    .flatMap(({ types, default: file }) => [types, file])
    .filter((file) => !existsSync(join(folder, file)))
  if (missing.length > 0) {
    throw new Error(`The build lacks what package.json exports:\n  ${missing.join('\n  ')}`)
  }
}

/** The compiler's maps lead to the sources of this project; they have to lead to those that lie beside `dist`. */
function pointMapsAt(sources: string, dist: string): void {
  for (const name of listFiles(dist).filter((path) => path.endsWith('.map'))) {
    const file = join(dist, name)
    const map = JSON.parse(readFileSync(file, 'utf8')) as { readonly sources: readonly string[] }
    const moved = map.sources.map((source) => {
      const path = relative(join(project, 'src'), resolve(dirname(file), source))
      return relative(dirname(file), join(sources, path)).replaceAll(sep, '/')
    })
    writeFileSync(file, JSON.stringify({ ...map, sources: moved }))
  }
}

/**
 * Makes the folder that is published. Not the project's own folder: its package.json pins a Node for
 * development and leads to the sources, which is nothing for a user of the package.
 */
export function buildPackage(folder: string): void {
  const {
    scripts: _scripts,
    workspaces: _workspaces,
    devDependencies: _devDependencies,
    optionalDependencies: _optionalDependencies,
    overrides: _overrides,
    exports,
    ...manifest
  } = packageJson
  const published = {
    ...manifest,
    exports: Object.fromEntries(
      Object.entries(exports).map(([name, { types, default: file }]) => [
        name,
        { types, default: file },
      ]),
    ),
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  copyPublishedFiles(folder)
  buildDist(folder)
}
