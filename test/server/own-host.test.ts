import { createHoldfast, memory } from 'holdfast'
import { createHandler, type HandlerOptions } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'

/** A framework that says `http://localhost:3000` of every request, as `next start` does. */

const holdfast = createHoldfast({
  store: memory(),
  model: scriptedModel(() => []),
  recoverEveryMs: 0,
})
const authenticate = () => ({ id: 'someone' })
const known: HandlerOptions = { authenticate }
const proxied: HandlerOptions = { authenticate, trustProxy: true }
const allowing: HandlerOptions = { authenticate, allowedOrigins: ['https://app.example'] }
const local: HandlerOptions = { localOnly: true }

type Headers = Readonly<Record<string, string>>

async function sendRequest(
  options: HandlerOptions,
  headers: Headers,
  { method = 'GET', path = '/api/threads', base = 'http://localhost:3000' } = {},
) {
  const response = await createHandler(
    holdfast,
    options,
  )(new Request(`${base}${path}`, { method, headers }))
  const text = await response.text()
  const { error } = (text === '' ? {} : JSON.parse(text)) as {
    error?: { code: string; message: string }
  }
  return { status: response.status, code: error?.code, message: error?.message ?? '' }
}

type Row = readonly [
  options: HandlerOptions,
  headers: Headers,
  status: number,
  code?: string | undefined,
]
const at = (host: string, origin: string, more: Headers = {}) => ({ host, origin, ...more })

const table: readonly Row[] = [
  // The app's own pages, on whatever name it is asked.
  [known, at('app.example', 'http://app.example'), 200],
  [known, at('app.example:3000', 'http://app.example:3000'), 200],
  [known, at('app.example:80', 'http://app.example'), 200],
  [known, at('app.example', 'https://app.example'), 200],
  [known, at('app.example:443', 'https://app.example'), 200],
  [known, at('APP.Example', 'http://app.example'), 200],
  [known, at('chat.localhost:3000', 'http://chat.localhost:3000'), 200],
  [known, at('[::1]:3000', 'http://[::1]:3000'), 200],
  [known, at('[0:0:0:0:0:0:0:1]:3000', 'http://[::1]:3000'), 200],
  [known, at('192.168.1.7:3000', 'http://192.168.1.7:3000'), 200],
  [known, at('bücher.example', 'http://xn--bcher-kva.example'), 200],
  [known, { host: 'app.example' }, 200],
  // Pages of anybody else, the name that the framework says included.
  [known, at('app.example', 'http://localhost:3000'), 403, 'foreign-origin'],
  [known, at('app.example', 'http://app.example:3000'), 403, 'foreign-origin'],
  [known, at('app.example:3000', 'http://app.example'), 403, 'foreign-origin'],
  [known, at('app.example:8443', 'https://app.example'), 403, 'foreign-origin'],
  [known, at('app.example', 'http://evil.example'), 403, 'foreign-origin'],
  [known, at('app.example', 'http://app.example.evil.example'), 403, 'foreign-origin'],
  [known, at('app.example', 'http://sub.app.example'), 403, 'foreign-origin'],
  [known, at('app.example', 'null'), 403, 'foreign-origin'],
  [known, at('app.example', ''), 403, 'foreign-origin'],
  [known, at('app.example', 'http://app.example, http://evil.example'), 403, 'foreign-origin'],
  [known, { host: 'app.example', 'sec-fetch-site': 'cross-site' }, 403, 'foreign-origin'],
  [allowing, at('api.example', 'https://app.example'), 200],
  [allowing, at('api.example', 'http://app.example'), 403, 'foreign-origin'],
  [allowing, at('api.example', 'null'), 403, 'foreign-origin'],
  // What anyone can send is believed only where the host says that a proxy of its own sends it.
  [
    known,
    at('127.0.0.1:3000', 'https://app.example', { 'x-forwarded-host': 'app.example' }),
    403,
    'foreign-origin',
  ],
  [
    proxied,
    at('127.0.0.1:3000', 'https://app.example', {
      'x-forwarded-host': 'app.example',
      'x-forwarded-proto': 'https',
    }),
    200,
  ],
  [proxied, at('x', 'https://app.example', { 'x-forwarded-host': 'app.example, inner' }), 200],
  [proxied, at('x', 'https://app.example', { forwarded: 'for=1.2.3.4;host=app.example' }), 200],
  [
    proxied,
    at('x', 'https://app.example:8443', { forwarded: 'proto=https; Host="app.example:8443"' }),
    200,
  ],
  [
    proxied,
    at('x', 'http://app.example', { forwarded: 'host=app.example;proto=https' }),
    403,
    'foreign-origin',
  ],
  [proxied, at('app.example', 'http://app.example'), 200],
  [
    proxied,
    at('app.example', 'https://evil.example', { 'x-forwarded-host': 'app.example' }),
    403,
    'foreign-origin',
  ],
  // A host that is none.
  [known, { host: 'a.example, b.example' }, 400, 'bad-request'],
  [known, { host: 'a.example,b.example' }, 400, 'bad-request'],
  [known, { host: 'user@app.example' }, 400, 'bad-request'],
  [known, { host: 'app.example:99999' }, 400, 'bad-request'],
  [known, { host: '' }, 400, 'bad-request'],
  [proxied, { host: 'x', 'x-forwarded-host': 'a/b' }, 400, 'bad-request'],
  // Nobody authenticates: nobody is served by a name alone, since anyone can send one.
  [{}, { host: 'localhost:3000' }, 403, 'no-authentication'],
  [{}, { host: '127.0.0.1' }, 403, 'no-authentication'],
  [{}, {}, 403, 'no-authentication'],
  [{}, { host: 'localhost', 'x-forwarded-for': '127.0.0.1' }, 403, 'no-authentication'],
  [{}, { host: 'app.example' }, 403, 'foreign-host'],
  [{ trustProxy: true }, { host: 'localhost' }, 403, 'no-authentication'],
  [local, { host: 'localhost:3000' }, 200],
  [local, { host: 'LOCALHOST:3000' }, 200],
  [local, at('chat.localhost:3000', 'http://chat.localhost:3000'), 200],
  [local, at('[::1]:3000', 'http://[::1]:3000'), 200],
  [local, { host: '127.0.0.1', 'x-forwarded-for': '::ffff:127.0.0.1' }, 200],
  // A name that was made to point here, and a proxy that lets others in.
  [local, { host: 'evil.example' }, 403, 'foreign-host'],
  [local, { host: 'localhost.evil.example' }, 403, 'foreign-host'],
  [local, { host: 'evillocalhost' }, 403, 'foreign-host'],
  [local, { host: '0.0.0.0' }, 403, 'foreign-host'],
  [local, { host: 'localhost', 'x-forwarded-host': 'app.example' }, 403, 'no-authentication'],
  [local, { host: 'localhost', 'x-forwarded-for': '10.0.0.9' }, 403, 'no-authentication'],
  [local, { host: 'localhost', 'x-forwarded-for': '127.0.0.1, 10.0.0.9' }, 403],
  [local, { host: 'localhost', 'x-real-ip': '10.0.0.9' }, 403, 'no-authentication'],
  [local, { host: 'localhost', forwarded: 'for="[2001:db8::1]:80"' }, 403, 'no-authentication'],
]

/** Who is served, with which headers, and how it is answered. */
const rows = table.map(([options, headers, status, code]) => ({ options, headers, status, code }))

describe('behind a framework that calls every request one to localhost', () => {
  it.each(rows)(
    '[HT4] $options is asked with $headers',
    async ({ options, headers, status, code }) => {
      for (const method of ['GET', 'DELETE']) {
        const path = method === 'GET' ? '/api/threads' : '/api/threads/none'
        const answer = await sendRequest(options, headers, { method, path })
        expect(answer.status).toBe(status === 200 && method === 'DELETE' ? 404 : status)
        if (code !== undefined) expect(answer.code).toBe(code)
      }
    },
  )

  it('[HT4] names both origins, and the option that lets the page in', async () => {
    const { message } = await sendRequest(known, at('app.example:3000', 'https://other.example'))
    expect(message).toContain('https://other.example')
    expect(message).toContain('http://app.example:3000')
    expect(message).toContain('allowedOrigins')
    expect(message).not.toContain('trustProxy')
    const behind = await sendRequest(known, {
      ...at('127.0.0.1:3000', 'https://app.example'),
      'x-forwarded-host': 'app.example',
    })
    expect(behind.message).toContain('trustProxy')
  })

  it.each([{ host: 'localhost:3000' }, { host: 'app.example' }, {}])(
    '[HT4] says which option is missing to %o where nobody authenticates',
    async (headers) => {
      const { message } = await sendRequest({}, headers)
      expect(message).toContain('`authenticate`')
    },
  )

  it('[HT4] answers a probe there, which learns nothing', async () => {
    for (const path of ['/api/ready', '/api/health']) {
      expect((await sendRequest({}, { host: 'localhost' }, { path })).status).toBe(200)
      expect((await sendRequest(known, { host: '10.1.2.3:3000' }, { path })).status).toBe(200)
      const foreign = at('localhost', 'http://evil.example')
      expect((await sendRequest({}, foreign, { path })).status).toBe(403)
    }
  })

  it('[HT4] takes the address for the name where there is no other', async () => {
    const base = 'https://chat.example'
    expect((await sendRequest(known, { origin: base }, { base })).status).toBe(200)
    expect((await sendRequest(known, { origin: 'http://chat.example' }, { base })).status).toBe(403)
  })
})
