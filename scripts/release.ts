// npm run release: whether everything says the same version; with --publish, publishes it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import packageJson from '../package.json' with { type: 'json' }
import { packageVersion } from '../src/core/package-version.ts'
import { buildPackage } from './build-package.ts'
import { findReleaseProblems } from './release-problems.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const usage = `npm run release -- [--tag v1.2.3] [--publish] [--dry-run]

  --tag      the tag that is released; in a workflow that a tag started, that one
  --publish  builds the package and publishes it to npm with its provenance; needs a tag
  --dry-run  publishes nothing, and says what would be

Sees that package.json, the lockfile, the sources, CHANGELOG.md and the tag say the same version. A version with a dash, as 1.0.0-rc.1, is
published under the tag "next". Exit code 1 if something does not agree.`
const { values } = parseScriptArguments({
  usage,
  options: {
    tag: { type: 'string' },
    publish: { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
  },
})
const project = join(import.meta.dirname, '..')
const started =
  process.env['GITHUB_REF_TYPE'] === 'tag' ? process.env['GITHUB_REF_NAME'] : undefined
const tag = values.tag ?? started
if (values.publish && tag === undefined) refuseArguments('--publish needs a tag.', usage)

const read = (path: string): string => readFileSync(join(project, path), 'utf8')
const lockfile = JSON.parse(read('package-lock.json')) as {
  readonly version: string
  readonly packages: { readonly '': { readonly version: string } }
}
const { version } = packageJson
const problems = findReleaseProblems({
  version,
  lockfileVersions: [lockfile.version, lockfile.packages[''].version],
  sourceVersion: packageVersion,
  changelog: read('CHANGELOG.md'),
  tag,
})
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
else if (values.publish) process.exitCode = publish()
else console.log(`Everything says ${version}${tag === undefined ? '' : `, as the tag ${tag}`}.`)

function publish(): number {
  buildPackage(join(project, 'package'))
  const channel = version.includes('-') ? ['--tag', 'next'] : []
  const dryRun = values['dry-run'] ? ['--dry-run'] : ['--provenance']
  const args = ['publish', './package', '--access', 'public', ...channel, ...dryRun]
  return runCommand('npm', args, { cwd: project })
}
