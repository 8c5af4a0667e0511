import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import type * as Memory from '../../src/index.ts'
import type * as Sqlite from '../../src/store/sqlite/index.ts'
import type * as Testing from '../../src/testing/index.ts'
import { listFiles } from '../../scripts/published-files.ts'
import { findNode } from '../support/promised-nodes.ts'
import { findLostLinks } from './find-lost-links.ts'
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

const run = (node: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  spawnSync(node, args, {
    cwd: installed.folder,
    env: { ...process.env, ...env },
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

  it.each(['holdfast/sqllite', 'holdfast/dist/index.js'])(
    '[CF6] %s is refused by its name, and the file that has the names is said',
    (name) => {
      const { status, stderr } = run(process.execPath, importing(name))
      expect(status).toBe(1)
      expect(stderr).toMatch(
        new RegExp(
          `Package subpath '${name.replace('holdfast', '.')}' is not defined by "exports" in .*package\\.json`,
        ),
      )
    },
  )

  it('[CF1] [CF6] names what a misspelt option, command or option of a command was meant to be', () => {
    const misspelt = `import { createHoldfast, memory } from 'holdfast'
createHoldfast({ store: memory(), instruction: 'Be brief.' })`
    const { stderr } = run(process.execPath, ['--input-type=module', '--eval', misspelt])
    expect(stderr).toContain(
      'createHoldfast has no option "instruction". Did you mean "instructions"?',
    )
    expect(holdfast('chekc').stderr).toContain('There is no command "chekc". Did you mean "check"?')
    expect(holdfast('check', '--repiar').stderr).toContain(
      'Unknown option \'--repiar\'. Did you mean "--repair"?',
    )
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

describe('what is in the package', () => {
  const files = listFiles(installed.packageFolder)
  const read = (file: string) => readFileSync(join(installed.packageFolder, file), 'utf8')

  it('[CF4] is found nothing wrong with by publint', async () => {
    const { messages } = await publint({ pkgDir: installed.packageFolder, pack: false })
    expect(messages).toEqual([])
  })

  it('[CF4] has docs and sources beside what is built, and no test', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'docs/guides/options.md',
        'src/index.ts',
      ]),
    )
    expect(
      files.filter((file) => /\.test\.|(?:^|\/)(?:test|scripts|node_modules)\//.test(file)),
    ).toEqual([])
  })

  it('[CF4] leads from each built file to its source', () => {
    const maps = files.filter((file) => file.endsWith('.map'))
    const lost = maps.flatMap((map) =>
      (JSON.parse(read(map)) as { readonly sources: readonly string[] }).sources
        .map((source) => posix.join(posix.dirname(map), source))
        .filter((source) => !files.includes(source))
        .map((source) => `${map} leads to ${source}`),
    )
    expect(lost).toEqual([])
    const mapped = (name: string) => [`${name}.js.map`, `${name}.d.ts.map`]
    expect(maps).toEqual(
      expect.arrayContaining(['index', 'react/index'].flatMap((name) => mapped(`dist/${name}`))),
    )
  })

  it('[CF4] has no link in its pages that leads nowhere', () => {
    const pages = files.filter((file) => /^(?:docs\/.*|[A-Z]+)\.(?:md|txt)$/.test(file))
    expect(pages.length).toBeGreaterThan(20)
    expect(pages.flatMap((page) => findLostLinks(page, read(page), files))).toEqual([])
    expect(findLostLinks('docs/a.md', '[a](b.md) [c](../README.md#d) ![e](f.png)', files)).toEqual([
      'docs/a.md: b.md',
      'docs/a.md: f.png',
    ])
  })
})

describe(`what \`holdfast init\` writes, on Node ${process.versions.node}`, () => {
  const chat = join(installed.folder, 'chat')
  const start = (env: Readonly<Record<string, string>>) => {
    const { scripts } = JSON.parse(readFileSync(join(chat, 'package.json'), 'utf8')) as {
      readonly scripts: { readonly start: string }
    }
    const [program, ...args] = scripts.start.split(' ')
    expect(program).toBe('node')
    return spawn(process.execPath, args, { cwd: chat, env: { ...process.env, PORT: '0', ...env } })
  }
  let said: string

  beforeAll(() => {
    const { status, stdout, stderr } = holdfast('init', 'chat')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    said = stdout
  })

  it('[CF5] is a project with the versions that are tested here, and three things to do next', () => {
    expect(said).toMatch(
      /^Wrote README\.md.* into chat\.\n\nNext:\n {2}1\. cd chat && npm install\n {2}2\. .+\n {2}3\. .+\n$/,
    )
    const manifest = JSON.parse(readFileSync(join(chat, 'package.json'), 'utf8')) as {
      readonly name: string
      readonly dependencies: Readonly<Record<string, string>>
      readonly devDependencies: Readonly<Record<string, string>>
      readonly engines: object
    }
    const pinned: Readonly<Record<string, string>> = packageJson.devDependencies
    const { name, dependencies, devDependencies, engines } = manifest
    const versions = Object.entries({ ...dependencies, ...devDependencies })
    expect({ name, engines, holdfast: dependencies['holdfast'] }).toEqual({
      name: 'chat',
      engines: packageJson.engines,
      holdfast: `^${packageJson.version}`,
    })
    expect(
      versions.filter(
        ([package_, range]) => package_ !== 'holdfast' && range.slice(1) !== pinned[package_],
      ),
    ).toEqual([])
    expect(listFiles(chat)).toContain('.gitignore')
  })

  it('[CF5] answers a question with its own tool, and says that the page is to be built', async () => {
    const child = start({ HOLDFAST_DEMO_DELAY_MS: '0' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const url = await firstMatch(child, /^The chat is at (\S+)$/)
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'weather in Paris' }] }
    const answer = await fetch(`${url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 'first', messages: [message] }),
    })
    expect(await answer.text()).toContain(
      '"output":{"city":"Paris","temperatureC":15,"condition":"Cloudy"}',
    )
    const page = await fetch(url)
    expect({ status: page.status, text: await page.text() }).toEqual({
      status: 404,
      text: 'The page is not built yet. Run `npm run build`.\n',
    })
  })

  it('[CF5] says in one sentence what a real model lacks', async () => {
    const child = start({ HOLDFAST_MODEL: 'openai:some-model', OPENAI_API_KEY: '' })
    const [err, code] = await Promise.all([
      text(child.stderr),
      new Promise((resolve) => {
        child.on('exit', resolve)
      }),
    ])
    expect({ err, code }).toEqual({
      err: 'The model needs a key. Set OPENAI_API_KEY.\n',
      code: 1,
    })
  })

  it('[CF5] is never written into a folder that has something', () => {
    const before = listFiles(chat).map((file) => [file, readFileSync(join(chat, file), 'utf8')])
    const { status, stdout, stderr } = holdfast('init', 'chat')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(
      /^holdfast: chat is not empty: it has \.gitignore, README\.md, .+ and \d more\. Nothing was written\./,
    )
    expect(listFiles(chat).map((file) => [file, readFileSync(join(chat, file), 'utf8')])).toEqual(
      before,
    )
  })

  it('[CF5] stays where nothing can be installed, and says what to run later', () => {
    const nowhere = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
    const args = [installed.command, 'init', 'offline', '--install']
    const { status, stdout, stderr } = run(process.execPath, args, nowhere)
    expect(status).toBe(1)
    expect(stderr).toContain(
      'holdfast: `npm install` failed, see above. All files are written; run it again when there is a network.\n',
    )
    expect(stdout).toContain('1. cd offline && npm install\n')
    expect(listFiles(join(installed.folder, 'offline'))).toContain('server.ts')
  })

  it.each([
    [['one', 'two'], 'Name one folder: `holdfast init FOLDER`.'],
    [['a-file'], 'a-file is a file, or lies in one. Name a folder.'],
    [
      ['--template', 'vue'],
      "Unknown option '--template'. Run `holdfast init --help` for its options.",
    ],
  ])('[CF5] refuses %j', (args, sentence) => {
    writeFileSync(join(installed.folder, 'a-file'), '')
    expect(holdfast('init', ...args)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: `holdfast: ${sentence}\n`,
    })
  })
})

/** What the first line of a program's output that fits says. */
async function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  for await (const line of createInterface(child.stdout as NodeJS.ReadableStream)) {
    const found = pattern.exec(line)?.[1]
    if (found !== undefined) return found
  }
  throw new Error(`The program ended before it said ${pattern}`)
}

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
    return firstMatch(child, /^Holdfast is listening on (\S+)$/)
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

  it.each(['--version', 'check', 'serve', 'init'])(
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
