import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type * as Memory from '../../src/index.ts'
import type * as Sqlite from '../../src/store/sqlite/index.ts'
import type * as Testing from '../../src/testing/index.ts'
import { findNode } from '../support/promised-nodes.ts'
import { installPackage } from './install-package.ts'

// Runs on each promised Node: whatever Node runs the tests, it is what the package is loaded with.
const installed = installPackage()
afterAll(() => installed.remove())

const load = (name: string): Promise<unknown> => import(pathToFileURL(installed.entry(name)).href)
const { memory } = (await load('.')) as typeof Memory
const { sqlite } = (await load('./sqlite')) as typeof Sqlite
const { httpRules, storeRules } = (await load('./testing')) as typeof Testing

const modules = Object.keys(packageJson.exports)
  .filter((name) => !name.endsWith('.css'))
  .map((name) => name.replace('.', 'holdfast'))

const run = (node: string, args: readonly string[]) =>
  spawnSync(node, args, {
    cwd: installed.folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    timeout: 120_000,
  })
const holdfast = (...args: readonly string[]) => run(process.execPath, [installed.command, ...args])
const importing = (name: string) => ['--input-type=module', '--eval', `await import('${name}')`]

describe(`the package on Node ${process.versions.node}`, () => {
  it.each(modules)('%s can be imported', (name) => {
    const { status, stderr } = run(process.execPath, importing(name))
    expect({ status, stderr: stderr.replace(/.*SQLite is an experimental[^]*/, '') }).toEqual({
      status: 0,
      stderr: '',
    })
  })

  it('has a command that says its version, and on the standard error only what is wrong', () => {
    expect(holdfast('--version')).toMatchObject({
      status: 0,
      stdout: `${packageJson.version}\n`,
      stderr: '',
    })
    expect(holdfast('check', '--db', 'none.db')).toMatchObject({
      status: 2,
      stdout: '',
      stderr: 'holdfast: There is no database none.db. Name one with --db or HOLDFAST_DB.\n',
    })
  })

  // Long enough for a garbage collection in the middle of it, which older Nodes need care for.
  it('has a command that imports, checks and exports', () => {
    const messages = Array.from({ length: 1_300 }, (_, index) => [
      { role: 'user', content: `Question ${index}` },
      { role: 'assistant', content: `Answer ${index}` },
    ]).flat()
    writeFileSync(join(installed.folder, 'old.json'), JSON.stringify({ id: 'old', messages }))
    expect(holdfast('import', 'old.json', '--db', 'chat.db')).toMatchObject({ status: 0 })
    expect(holdfast('check', '--db', 'chat.db')).toMatchObject({ status: 0 })
    const exported = holdfast('export', '--all', '--format', 'vercel', '--db', 'chat.db')
    expect(exported).toMatchObject({ status: 0, stderr: '' })
    const { threads } = JSON.parse(exported.stdout) as {
      readonly threads: readonly { readonly messages: readonly { readonly content: string }[] }[]
    }
    expect(threads[0]?.messages.map(({ content }) => content)).toEqual(
      messages.map(({ content }) => content),
    )
  })
})

let storeCount = 0

describe.each(['memory', 'sqlite'] as const)('the rules of stores on the package: %s', (engine) => {
  for (const { id, claim, check } of storeRules) {
    it(`[${id}] ${engine}: ${claim}`, async () => {
      let now = 1_770_000_000_000
      const clock = {
        now: () => now,
        advance(ms: number) {
          now += ms
        },
      }
      const files = new Map<Memory.Store, string>()
      const openFile = (file: string): Memory.Store => {
        const store =
          engine === 'memory' ? memory({ now: clock.now }) : sqlite(file, { now: clock.now })
        files.set(store, file)
        return store
      }
      await check({
        clock,
        open: async () => openFile(join(installed.folder, `store-${storeCount++}.db`)),
        async reopen(store) {
          if (engine === 'memory') return store
          await store.close()
          return openFile(files.get(store) ?? ':memory:')
        },
      })
      for (const store of files.keys()) await store.close()
    })
  }
})

describe('the rules of HTTP on `holdfast serve` of the package', () => {
  const servers: ChildProcess[] = []
  let url: string
  let guarded: string

  beforeAll(async () => {
    writeFileSync(
      join(installed.folder, 'config.js'),
      `import { createDemoTools } from 'holdfast/demo'
export default { leaseMs: 2_000, recoverEveryMs: 200, retryDelayMs: 1, ...createDemoTools() }
`,
    )
    writeFileSync(
      join(installed.folder, 'guarded.js'),
      `import open from './config.js'
const authenticate = (request) => {
  const id = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1]
  return id === undefined ? null : { id }
}
export default { ...open, authenticate }
`,
    )
    url = await serve('config.js')
    guarded = await serve('guarded.js')
  })
  afterAll(() => {
    for (const server of servers) server.kill('SIGKILL')
  })

  async function serve(config: string): Promise<string> {
    const db = `${config}.db`
    const args = ['serve', '--port', '0', '--db', db, '--config', config, '--log', 'off']
    const child = spawn(process.execPath, [installed.command, ...args], {
      cwd: installed.folder,
      env: { ...process.env, HOLDFAST_DEMO_DELAY_MS: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    servers.push(child)
    for await (const line of createInterface(child.stdout)) {
      const found = /^Holdfast is listening on (\S+)$/.exec(line)?.[1]
      if (found !== undefined) return found
    }
    throw new Error('`holdfast serve` ended before it listened')
  }

  describe.concurrent('alone', () => {
    for (const rule of httpRules.filter(({ needs }) => needs !== 'two-owners')) {
      it(`${rule.id} ${rule.claim}`, () => rule.check({ baseUrl: url }))
    }
  })
  describe.concurrent('with two owners', () => {
    const headersOf = (owner: 'one' | 'other') => ({ authorization: `Bearer ${owner}` })
    for (const rule of httpRules.filter(({ needs }) => needs === 'two-owners')) {
      it(`${rule.id} ${rule.claim}`, () => rule.check({ baseUrl: guarded, headersOf }))
    }
  })
})

const old = findNode('node-20')

describe.runIf(old.kind === 'found')('the package on a Node that is too old', () => {
  const node = old.kind === 'found' ? old.program : ''
  // A skipped group is collected all the same, and then there is no program to run.
  const version = node === '' ? '' : run(node, ['--version']).stdout.trim().replace('v', '')
  const sentence = `Holdfast needs Node 22.13 or newer; this is Node ${version}.`
  const forBrowsers = ['holdfast/client', 'holdfast/react', 'holdfast/widgets']

  it.each(modules.filter((name) => !forBrowsers.includes(name)))(
    '%s says in one sentence what is needed',
    (name) => {
      const { status, stderr } = run(node, importing(name))
      expect(status).toBe(1)
      expect(stderr.split('\n').filter((line) => line.includes('Error'))).toEqual([
        `[Error: ${sentence}]`,
      ])
      expect(stderr).not.toContain(' at ')
    },
  )

  it.each(['--version', 'check', 'serve'])(
    '`holdfast %s` says the same, and nothing else',
    (arg) => {
      expect(run(node, [installed.command, arg])).toMatchObject({
        status: 2,
        stdout: '',
        stderr: `${sentence}\n`,
      })
    },
  )
})
