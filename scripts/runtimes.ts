// npm run runtimes: the published package on runtimes beside Node, by the rules of its HTTP contract.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type HttpRule, httpRules } from 'holdfast/testing'
import { installPackage } from '../test/packed/install-package.ts'
import { createDatabase } from '../test/support/create-database.ts'
import { startPostgres } from '../test/support/postgres-server.ts'
import { parseScriptArguments } from './script-arguments.ts'

parseScriptArguments({
  usage: `npm run runtimes

Installs the package, Bun and Deno into a new project, starts a server there on each of them and on each store, and holds it to the
HTTP rules. Needs the network. Exit code 1 if a rule does not hold.`,
})

/** Exact, as every version is. */
const versions = { bun: '1.4.4', deno: '2.9.6' }
const ruleMs = 30_000

interface Runtime {
  readonly name: string
  readonly program: string
  readonly args: readonly string[]
}

const installed = installPackage()
// Beside the project: npm would take the linked peers away that it does not know.
const folder = join(installed.folder, 'runtimes')
const bin = (name: string) => join(folder, 'node_modules/.bin', name)
const runtimes: readonly Runtime[] = [
  { name: `Bun ${versions.bun}`, program: bin('bun'), args: [] },
  { name: `Deno ${versions.deno}`, program: bin('deno'), args: ['run', '--allow-all'] },
]
const postgres = await startPostgres()
try {
  const packages = Object.entries(versions).map(([name, version]) => `${name}@${version}`)
  mkdirSync(folder)
  const npm = ['install', '--no-audit', '--no-fund', '--prefix', folder]
  const { status } = spawnSync('npm', [...npm, ...packages], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  if (status !== 0) throw new Error('Bun and Deno could not be installed.')
  copyFileSync(
    join(import.meta.dirname, 'runtime-server.mjs'),
    join(installed.folder, 'server.mjs'),
  )
  for (const runtime of runtimes) {
    const database = await createDatabase(postgres.url)
    const file = join(installed.folder, `${runtime.name.replaceAll(' ', '-')}.db`)
    for (const [store, db] of [
      ['memory', 'memory'],
      ['SQLite', file],
      ['PostgreSQL', database.url],
    ] as const) {
      const broken = await holdToRules(runtime, db)
      const held = httpRules.length - broken.length
      console.log(`${runtime.name}, ${store}: ${held} of ${httpRules.length} HTTP rules hold`)
      for (const line of broken) console.log(`  ${line}`)
      if (broken.length > 0) process.exitCode = 1
    }
    await database.drop()
  }
} finally {
  await postgres.stop()
  installed.remove()
}

/** What does not hold, a line for each. */
async function holdToRules(runtime: Runtime, db: string): Promise<readonly string[]> {
  const alone = await startServer(runtime, { DB: db })
  const guarded = await startServer(runtime, { DB: db, OWNERS: '2' })
  const headersOf = (owner: 'one' | 'other') => ({ authorization: `Bearer ${owner}` })
  const broken: string[] = []
  for (const rule of httpRules) {
    const fixture =
      rule.needs === 'two-owners' ? { baseUrl: guarded.url, headersOf } : { baseUrl: alone.url }
    const fault = await check(rule, fixture)
    if (fault !== undefined) broken.push(`${rule.id} ${rule.claim}: ${fault}`)
  }
  await Promise.all([alone.stop(), guarded.stop()])
  return broken
}

async function check(
  rule: HttpRule,
  fixture: Parameters<HttpRule['check']>[0],
): Promise<string | undefined> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`took over ${ruleMs} ms`)), ruleMs)
  try {
    await Promise.race([rule.check(fixture), late.promise])
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error)
  } finally {
    clearTimeout(timer)
  }
}

async function startServer({ program, args }: Runtime, env: Readonly<Record<string, string>>) {
  const child = spawn(program, [...args, 'server.mjs'], {
    cwd: installed.folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  const line = once(createInterface(child.stdout), 'line').then(([url]) => String(url))
  const url = await Promise.race([line, exited.then(() => undefined)])
  if (url === undefined) throw new Error(`${program} did not start the server.`)
  return {
    url,
    async stop() {
      child.kill()
      await exited
    },
  }
}
