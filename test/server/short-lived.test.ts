import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { startServerProcess } from '../support/server-process.ts'
import { startChatServer } from './chat-server.ts'

const secret = 'a secret of some length'
const recover = (url: string, authorization?: string): Promise<Response> =>
  fetch(`${url}/api/recover`, {
    method: 'POST',
    ...(authorization === undefined ? {} : { headers: { authorization } }),
  })
const sendMessage = (url: string, text: string): Promise<Response> =>
  fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'a-thread-of-its-own',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })

it('[OP4] finishes a turn by many processes, each killed when it has handed over, and runs every call once', async () => {
  const db = temporaryFile()
  const charges = join(dirname(db), 'charges.txt')
  const start = () =>
    startServerProcess({
      db,
      program: 'test/support/short-lived-server.ts',
      env: { CHARGES: charges, RECOVER_SECRET: secret },
    })
  let server = await start()
  // The connection breaks with the process: what was said is stored, and whoever asks again finds it.
  await sendMessage(server.url, 'charge').then(
    (response) => response.text().catch(() => ''),
    () => '',
  )
  let processes = 1
  for (let unfinished = 1; unfinished > 0;) {
    server = await start()
    processes++
    const answer = await recover(server.url, `Bearer ${secret}`)
      .then((response) => response.json() as Promise<{ unfinished: number }>)
      .catch(() => undefined)
    unfinished = answer?.unfinished ?? 1
    if (unfinished > 0) await server.stop('SIGKILL')
  }
  const page = await fetch(`${server.url}/api/threads/a-thread-of-its-own/messages?format=ui`)
  const { results } = (await page.json()) as { results: { role: string; parts: UiPart[] }[] }
  await server.stop()
  const parts = results.find(({ role }) => role === 'assistant')?.parts ?? []
  const nths = Array.from({ length: 16 }, (_, nth) => nth)
  expect(parts.flatMap(({ type, input }) => (type === 'tool-charge' ? [input?.nth] : []))).toEqual(
    nths,
  )
  const said = parts.flatMap(({ type, text }) => (type === 'text' ? [text] : []))
  expect(said).toEqual([...nths.map((nth) => `Charge ${nth}. `), 'All 16 are charged.'])
  expect((await readFile(charges, 'utf8')).trim().split('\n').map(Number)).toEqual(nths)
  expect(processes).toBe(5)
})

interface UiPart {
  readonly type: string
  readonly text?: string
  readonly input?: { readonly nth: number }
}

it('[OP4] is called with its own secret, and with nothing else', async () => {
  const script = () => [{ text: 'Hello.' }]
  const off = await startChatServer(script)
  expect((await recover(off.url, `Bearer ${secret}`)).status).toBe(404)
  const on = await startChatServer(script, {
    handler: { recoverSecret: secret, authenticate: () => null },
  })
  for (const wrong of [undefined, '', 'Bearer', `Bearer ${secret}x`, `Basic ${secret}`, secret]) {
    const refused = await recover(on.url, wrong)
    expect([wrong, refused.status]).toEqual([wrong, 401])
    expect(await refused.json()).toMatchObject({ error: { code: 'not-authenticated' } })
  }
  const taken = await recover(on.url, `Bearer ${secret}`)
  expect([taken.status, await taken.json()]).toEqual([200, { recovered: 0, unfinished: 0 }])
})

it('[OP4] gives the platform what it has to wait for, as long as a run is under way', async () => {
  const kept: Promise<unknown>[] = []
  const { url, holdfast } = await startChatServer(() => [{ text: 'Hello.' }, { waitMs: 20 }], {
    handler: { waitUntil: (work) => void kept.push(work) },
  })
  await fetch(`${url}/api/threads`)
  expect(kept).toHaveLength(0)
  const response = await sendMessage(url, 'hello')
  expect(kept).toHaveLength(1)
  await kept[0]
  expect(holdfast.running()).toEqual([])
  await response.body?.cancel()
})

it('[OP4] answers though the platform throws: the message is stored, and is being answered', async () => {
  const written = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => written.mockRestore())
  const { url } = await startChatServer(() => [{ text: 'Hello.' }, { waitMs: 20 }], {
    handler: {
      waitUntil() {
        throw new Error('No context here.')
      },
    },
  })
  const response = await sendMessage(url, 'hello')
  expect([response.status, await response.text()]).toEqual([
    200,
    expect.stringContaining('"Hello."') as string,
  ])
  expect(written.mock.calls.flat().map(String).join(' ')).toContain('No context here.')
})
