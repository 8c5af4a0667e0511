import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { type RequestAtOptions, requestAt } from '../support/request-at.ts'
import { createUserProject, type UserProject } from '../support/user-project.ts'

/** The example in a real `next start`, with the package as it is published, asked under names of every kind. */

const config = `export default {
  typescript: { ignoreBuildErrors: true }, // the blocks of the guides are compiled by a test of their own
  turbopack: { root: '/' }, // the packages are links to those of the project
  outputFileTracingRoot: '/',
}
`

/** The same without authentication, at /open/api. */
const openRoute = `
import { createHoldfast, memory } from 'holdfast'
import { createHandler } from 'holdfast/server'
import { demoModel } from 'holdfast/demo'
const holdfast = createHoldfast({ store: memory(), model: demoModel() })
const handlers = { open: createHandler(holdfast), local: createHandler(holdfast, { localOnly: true }) }
export const dynamic = 'force-dynamic'
export const GET = (request: Request) => {
  const { pathname } = new URL(request.url)
  const [, kind, ...path] = pathname.split('/')
  return handlers[kind as 'open' | 'local'](new Request(new URL('/' + path.join('/'), request.url), request))
}
`

const env = { NEXT_TELEMETRY_DISABLED: '1', CI: '1' }
const minutes = 60_000

let project: UserProject
let server: ChildProcess
let port: number

beforeAll(async () => {
  project = createUserProject()
  cpSync(join(import.meta.dirname, '../../examples/next-route/app'), join(project.folder, 'app'), {
    recursive: true,
  })
  project.write('next.config.mjs', config)
  project.write('app/open/[...path]/route.ts', openRoute)
  project.write('app/local/[...path]/route.ts', openRoute)
  const next = join(project.folder, 'node_modules/next/dist/bin/next')
  const built = project.run('node', [next, 'build'], env, 5 * minutes)
  if (built.status !== 0) throw new Error(built.output)
  server = spawn(process.execPath, [next, 'start', '-p', '0'], {
    cwd: project.folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  port = await new Promise<number>((resolve, reject) => {
    let output = ''
    createInterface({ input: server.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      output += `${line}\n`
      const [, found] = /http:\/\/localhost:(\d+)/.exec(output) ?? []
      // It names its address before it listens there.
      if (found !== undefined && line.includes('Ready')) resolve(Number(found))
    })
    server.on('exit', () => reject(new Error(output)))
  })
}, 8 * minutes)

afterAll(() => {
  server.kill('SIGKILL')
  project.remove()
})

const sendRequest = (headers: Readonly<Record<string, string>>, more: RequestAtOptions = {}) =>
  requestAt(port, '127.0.0.1', { ...more, headers: { 'x-demo-user': 'ada', ...headers } })

describe('next start', () => {
  it.each([
    ['a name of its own', 'app.example.test', 'http://app.example.test'],
    ['a name and a port', 'app.example.test:3000', 'http://app.example.test:3000'],
    ['a proxy that ends TLS', 'app.example.test', 'https://app.example.test'],
    ['a name of this machine', 'chat.localhost:3000', 'http://chat.localhost:3000'],
    ['an address', '192.168.1.7:3000', 'http://192.168.1.7:3000'],
  ])('[HT4] answers the app’s own pages under %s', async (_, host, origin) => {
    expect(await sendRequest({ host, origin })).toMatchObject({ status: 200 })
    const body = JSON.stringify({ title: host })
    const json = { 'content-type': 'application/json' }
    expect((await sendRequest({ host, origin, ...json }, { body })).status).toBe(201)
  })

  it('[HT4] refuses pages of others, and says how to let them in', async () => {
    const host = 'app.example.test'
    for (const origin of ['http://evil.example', `http://localhost:${port}`, 'null']) {
      const { status, text } = await sendRequest({ host, origin })
      expect(status).toBe(403)
      expect(text).toContain('foreign-origin')
    }
    const { text } = await sendRequest({ host, origin: 'http://evil.example' })
    expect(text).toContain('http://evil.example')
    expect(text).toContain('http://app.example.test')
    expect(text).toContain('allowedOrigins')
  })

  it('[HT4] lets nobody in without authentication, whatever name they say', async () => {
    for (const host of [`localhost:${port}`, '127.0.0.1', 'app.example.test']) {
      const open = await sendRequest({ host }, { path: '/open/api/threads' })
      expect(open.status).toBe(403)
      expect(open.text).toContain('`authenticate`')
    }
    const forged = { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }
    expect((await sendRequest(forged, { path: '/open/api/threads' })).status).toBe(403)
  })

  it('[HT4] serves this machine where the app vouches for it, and no other name', async () => {
    const path = '/local/api/threads'
    expect((await sendRequest({ host: `localhost:${port}` }, { path })).status).toBe(200)
    expect((await sendRequest({ host: 'evil.example' }, { path })).status).toBe(403)
    const elsewhere = { host: 'localhost', 'x-forwarded-for': '203.0.113.9' }
    expect((await sendRequest(elsewhere, { path })).status).toBe(403)
  })

  it('[RS3] streams an answer with its tool, and shows it again', async () => {
    const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'weather in Paris' }] }
    const body = JSON.stringify({ id: 'a-thread-of-ours', messages: [message] })
    const headers = {
      host: 'app.example.test',
      origin: 'https://app.example.test',
      'content-type': 'application/json',
    }
    const { status, text } = await sendRequest(headers, { path: '/api/chat', body })
    expect(status).toBe(200)
    expect(text).toContain('"tool-output-available"')
    expect(text.trim().endsWith('data: [DONE]')).toBe(true)
    const page = await sendRequest(headers, { path: '/api/threads/a-thread-of-ours/messages' })
    expect(page.text).toContain('"output-available"')
    expect(
      (await sendRequest({ 'x-demo-user': 'bob' }, { path: '/api/threads' })).text,
    ).not.toContain('a-thread-of-ours')
  })

  it('[HT1] says its version, and that it is ready, to everybody', async () => {
    const health = await requestAt(port, '127.0.0.1', { path: '/api/health' })
    expect(JSON.parse(health.text)).toMatchObject({ status: 'ok', version: packageJson.version })
    const ready = await requestAt(port, '127.0.0.1', { path: '/api/ready' })
    expect(JSON.parse(ready.text)).toEqual({ status: 'ready' })
  })
})
