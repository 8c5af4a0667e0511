import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { findNode } from '../support/promised-nodes.ts'
import { temporaryFolder } from './run-holdfast.ts'

const project = join(import.meta.dirname, '../..')
const old = findNode('node-20')
/** Whatever Node somebody has installed: npx starts the command with that one. */
const anyNode = old.kind === 'found' ? old.program : process.execPath

/** A clone as `npm install` leaves it: the project's files, its node_modules, and nothing built. */
function createClone(): string {
  const clone = temporaryFolder()
  for (const name of ['bin', 'scripts', 'src', 'package.json', '.npmrc']) {
    cpSync(join(project, name), join(clone, name), { recursive: true })
  }
  symlinkSync(join(project, 'node_modules'), join(clone, 'node_modules'), 'junction')
  mkdirSync(join(clone, 'docs'))
  const messages = [{ id: 'u1', role: 'user', content: 'Weather in Oslo?' }]
  writeFileSync(join(clone, 'docs/old.json'), JSON.stringify({ id: 'old', messages }))
  return clone
}

const { HOLDFAST_DB: _, ...env } = process.env

function holdfast(folder: string, ...args: readonly string[]) {
  const command = [join(folder.replace(/[\\/]docs$/, ''), 'bin/holdfast.js'), ...args]
  const { status, stdout, stderr } = spawnSync(anyNode, command, {
    cwd: folder,
    env,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

describe('`npx holdfast` in a clone', () => {
  it('is what package.json names, and may be executed', () => {
    const clone = createClone()
    const { status, stdout } = spawnSync('npx', ['holdfast', '--version'], {
      cwd: clone,
      env,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${packageJson.version}\n` })
  })

  it('imports, checks and exports with the database of `npm start`, wherever it is typed', () => {
    const clone = createClone()
    const docs = join(clone, 'docs')
    expect(holdfast(docs, 'import', 'old.json')).toMatchObject({ status: 0 })
    expect(existsSync(join(docs, 'holdfast.db'))).toBe(false)
    expect(existsSync(join(clone, 'holdfast.db'))).toBe(true)
    expect(holdfast(clone, 'check')).toMatchObject({ status: 0 })
    const exported = holdfast(docs, 'export', '--all')
    expect(exported).toMatchObject({ status: 0, stderr: '' })
    expect(JSON.parse(exported.stdout)).toMatchObject({ threads: [{ id: 'old' }] })
  })

  it('takes another database where one is named', () => {
    const clone = createClone()
    const docs = join(clone, 'docs')
    expect(holdfast(docs, 'import', 'old.json', '--db', 'other.db')).toMatchObject({ status: 0 })
    expect(existsSync(join(docs, 'other.db'))).toBe(true)
    expect(existsSync(join(clone, 'holdfast.db'))).toBe(false)
  })

  it('passes the exit code on', () => {
    const clone = createClone()
    expect(holdfast(clone, 'check')).toEqual({
      status: 2,
      stdout: '',
      stderr: 'holdfast: There is no database holdfast.db. Name one with --db or HOLDFAST_DB.\n',
    })
    expect(holdfast(clone, 'no-such-command')).toMatchObject({ status: 2, stdout: '' })
  })

  it('says what to do before `npm install`', () => {
    const clone = temporaryFolder()
    for (const name of ['bin', 'scripts', 'src', 'package.json']) {
      cpSync(join(project, name), join(clone, name), { recursive: true })
    }
    const { status, stdout, stderr } = holdfast(clone, 'check')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^holdfast: .* Run `npm install` first\.\n$/)
  })
})

// On Windows npx starts a shell, and ending that does not end the server in it.
describe.skipIf(process.platform === 'win32')('`npx holdfast serve` in a clone', () => {
  let server: ChildProcess | undefined
  afterEach(() => server?.kill('SIGKILL'))

  async function serve(): Promise<{ readonly clone: string; readonly url: string }> {
    const clone = createClone()
    const command = [join(clone, 'bin/holdfast.js'), 'serve', '--port', '0', '--log', 'off']
    const started = spawn(anyNode, command, {
      cwd: clone,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    server = started
    for await (const line of createInterface(started.stdout)) {
      const url = /^Holdfast is listening on (\S+)$/.exec(line)?.[1]
      if (url !== undefined) return { clone, url }
    }
    throw new Error('`holdfast serve` ended before it listened')
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('ends well when it gets %s', async (signal) => {
    const { clone, url } = await serve()
    expect(await (await fetch(`${url}/api/threads`)).json()).toMatchObject({ results: [] })
    expect(readFileSync(join(clone, 'holdfast.db')).length).toBeGreaterThan(0)
    server?.kill(signal)
    expect(await once(server as ChildProcess, 'exit')).toEqual([0, null])
    await expect(fetch(`${url}/api/threads`)).rejects.toThrow('fetch failed')
  })

  it('ends as what it started was ended', async () => {
    const { url } = await serve()
    server?.kill('SIGHUP')
    expect(await once(server as ChildProcess, 'exit')).toEqual([null, 'SIGHUP'])
    await expect(fetch(`${url}/api/threads`)).rejects.toThrow('fetch failed')
  })
})
