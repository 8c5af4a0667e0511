import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Chunk, readChunks } from '../src/testing/http-rules/chat-requests.ts'

type Handler = (request: Request) => Response | Promise<Response>

const folder = mkdtempSync(join(tmpdir(), 'holdfast-examples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const url = (path: string) => `http://localhost:3000${path}`

/** Asks an example as a browser would, and gives the chunks of its answer. */
async function chat(
  handler: Handler,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly Chunk[]> {
  const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text }] }
  const response = await handler(
    new Request(url('/api/chat'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ id: 'the-first-thread-of-all', messages: [message] }),
    }),
  )
  return readChunks(response)
}

describe('examples/next-route', () => {
  const headers = { 'x-demo-user': 'ada' }
  let route: Readonly<Record<'GET' | 'POST' | 'PATCH' | 'DELETE', Handler>>
  beforeAll(async () => {
    vi.stubEnv('HOLDFAST_DB', join(folder, 'next.db'))
    route = await import('../examples/next-route/app/api/[...path]/route.ts')
  })

  it('answers a chat with its tool, and shows it again', async () => {
    const chunks = await chat(route.POST, 'weather in Paris', headers)
    expect(chunks).toContainEqual(
      expect.objectContaining({
        type: 'tool-output-available',
        output: { city: 'Paris', temperatureC: 21, condition: 'Sunny' },
      }),
    )
    const page = await route.GET(
      new Request(url('/api/threads/the-first-thread-of-all/messages'), { headers }),
    )
    const { results } = (await page.json()) as { results: readonly { role: string }[] }
    expect(results.map(({ role }) => role)).toEqual(['assistant', 'user'])
  })

  it('knows who asks', async () => {
    const list = url('/api/threads')
    expect((await route.GET(new Request(list))).status).toBe(401)
    const other = { 'x-demo-user': 'bob' }
    const gone = new Request(url('/api/threads/the-first-thread-of-all'), {
      method: 'DELETE',
      headers: other,
    })
    expect((await route.DELETE(gone)).status).toBe(404)
  })

  it('keeps one engine when Next.js loads the file again', async () => {
    const engine = () => (globalThis as { readonly holdfast?: unknown }).holdfast
    const before = engine()
    vi.resetModules()
    const again = await import('../examples/next-route/app/api/[...path]/route.ts')
    expect(again.GET).not.toBe(route.GET)
    expect(before).toBeDefined()
    expect(engine()).toBe(before)
  })
})

describe('examples/hono', () => {
  it('serves its own page and the chat, and asks before it deletes', async () => {
    vi.stubEnv('HOLDFAST_DB', join(folder, 'hono.db'))
    const { default: app } = await import('../examples/hono/app.ts')
    expect(await (await app.request(url('/'))).text()).toBe('The chat is at /api/chat.')
    const headers = { 'x-demo-user': 'ada' }
    const chunks = await chat((request) => app.fetch(request), 'delete note Travel', headers)
    expect(chunks.map(({ type }) => type)).toContain('tool-approval-request')
    const health = await app.request(url('/api/health'))
    expect(await health.json()).toMatchObject({ status: 'ok', store: 'sqlite' })
  })
})

describe('examples/minimal-node', () => {
  it('starts, answers, and stops on a signal', async () => {
    const file = join(import.meta.dirname, '../examples/minimal-node/server.ts')
    const child = spawn(process.execPath, ['--conditions=holdfast-source', file], {
      env: { PATH: process.env['PATH'], PORT: '0', HOLDFAST_DB: join(folder, 'node.db') },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = new Promise<number | null>((resolve) => {
      child.on('close', (code) => resolve(code))
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const line = await new Promise<string>((resolve) => {
      createInterface(child.stdout).once('line', resolve)
    })
    const base = /^Listening on (http:.*)$/.exec(line)?.[1] ?? ''
    const fetchThere: Handler = (request) =>
      fetch(new Request(new URL(new URL(request.url).pathname, base), request))
    const chunks = await chat(fetchThere, 'search my notes for milk')
    expect(chunks.at(-1)).toMatchObject({ type: 'finish' })
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })
})
