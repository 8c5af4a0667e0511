import { createHoldfast, memory } from 'holdfast'
import { createHandler, type HandlerOptions } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'

const holdfast = createHoldfast({
  store: memory(),
  model: scriptedModel(() => []),
  recoverEveryMs: 0,
})
const authenticate = () => ({ id: 'someone' })
const local: HandlerOptions = { localOnly: true }
const known: HandlerOptions = { authenticate }
const open: HandlerOptions = { authenticate, allowedOrigins: ['https://app.example'] }

const proxied: HandlerOptions = { authenticate, trustProxy: true }
const forwarded = (origin: string, proto: string) => ({ origin, 'x-forwarded-proto': proto })

type Row = readonly [
  host: string,
  headers: Readonly<Record<string, string>>,
  options: HandlerOptions,
  status: number,
]

/** Where a request goes, where its page came from, who may ask: is it answered? */
const table: readonly Row[] = [
  ['http://127.0.0.1:8787', {}, local, 200],
  ['http://127.5.5.5:8787', {}, local, 200],
  ['http://localhost:8787', {}, local, 200],
  ['http://[::1]:8787', {}, local, 200],
  ['http://evil.example:8787', {}, local, 403],
  ['http://localhost.evil.example', {}, local, 403],
  ['http://127.0.0.1.evil.example', {}, local, 403],
  ['http://0.0.0.0:8787', {}, local, 403],
  ['http://192.168.1.7:8787', {}, local, 403],
  ['http://localhost:8787', { origin: 'http://localhost:8787' }, local, 200],
  ['http://localhost:8787', { origin: 'http://127.0.0.1:8787' }, local, 403],
  ['http://localhost:8787', { origin: 'http://localhost:3000' }, local, 403],
  ['http://localhost:8787', { origin: 'https://localhost:8787' }, local, 403],
  ['http://localhost:8787', { origin: 'http://evil.example' }, local, 403],
  ['http://localhost:8787', { origin: 'null' }, local, 403],
  ['http://localhost:8787', { 'sec-fetch-site': 'cross-site' }, local, 403],
  ['http://localhost:8787', { 'sec-fetch-site': 'same-origin' }, local, 200],
  ['http://localhost:8787', { 'sec-fetch-site': 'none' }, local, 200],
  ['http://chat.example', {}, known, 200],
  ['http://chat.example', { origin: 'http://chat.example' }, known, 200],
  ['http://chat.example', { origin: 'https://app.example' }, known, 403],
  ['http://chat.example', { origin: 'https://app.example' }, open, 200],
  ['http://chat.example', { origin: 'https://app.example.evil.example' }, open, 403],
  ['http://chat.example', { origin: 'null' }, open, 403],
  // A proxy that ends TLS passes the name on, not the scheme.
  ['http://chat.example', { origin: 'https://chat.example' }, known, 200],
  ['http://chat.example:443', { origin: 'https://chat.example' }, known, 200],
  ['http://chat.example:8080', { origin: 'https://chat.example' }, known, 403],
  ['http://chat.example', { origin: 'https://chat.example:8443' }, known, 403],
  ['https://chat.example', { origin: 'https://chat.example' }, known, 200],
  ['https://chat.example', { origin: 'http://chat.example' }, known, 403],
  ['https://chat.example', forwarded('http://chat.example', 'http'), known, 403],
  ['http://chat.example', forwarded('https://chat.example', 'https'), proxied, 200],
  ['http://chat.example', forwarded('https://chat.example', 'https, http'), proxied, 200],
  ['http://chat.example', forwarded('http://chat.example', 'https'), proxied, 403],
  ['http://chat.example', forwarded('https://chat.example', 'http'), proxied, 403],
  ['http://chat.example', forwarded('https://evil.example', 'https'), proxied, 403],
  ['http://chat.example', { origin: 'http://chat.example' }, proxied, 200],
]

describe('who is answered', () => {
  it.each(table)('[HT4] %s with %o', async (host, headers, options, status) => {
    const handler = createHandler(holdfast, options)
    for (const path of ['/api/health', '/api/threads']) {
      const response = await handler(new Request(`${host}${path}`, { headers }))
      expect(response.status).toBe(status)
      if (status === 403) {
        const { error } = (await response.json()) as { error: { code: string } }
        expect(error.code).toMatch(/^foreign-/)
      }
    }
  })
})

describe('a page of an allowed site', () => {
  const origin = 'https://app.example'
  const sendRequest = (options: HandlerOptions, init: RequestInit) =>
    createHandler(holdfast, options)(new Request('http://chat.example/api/threads', init))

  it('[HT4] may read the answers, and no other may', async () => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type, x-api-key',
    }
    const asked = await sendRequest(open, { method: 'OPTIONS', headers })
    expect(asked.status).toBe(204)
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin)
    expect(asked.headers.get('access-control-allow-headers')).toBe('content-type, x-api-key')
    expect(asked.headers.get('access-control-allow-credentials')).toBe('true')
    const read = await sendRequest(open, { headers: { origin } })
    expect(read.headers.get('access-control-allow-origin')).toBe(origin)
    const refused = await sendRequest(known, { method: 'OPTIONS', headers })
    expect(refused.status).toBe(403)
    expect(refused.headers.get('access-control-allow-origin')).toBeNull()
  })
})
