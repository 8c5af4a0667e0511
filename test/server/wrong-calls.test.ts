import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, HoldfastError, memory } from 'holdfast'
import {
  createHandler,
  createRecordingProxy,
  type Handler,
  listen,
  toNodeHandler,
  toNodeListener,
} from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

const holdfast = createHoldfast({
  store: memory(),
  model: scriptedModel(() => []),
  recoverEveryMs: 0,
})
const handler = createHandler(holdfast)
const place = { port: 0, host: '127.0.0.1' }

async function faultOf(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    const { code = 'no code', message } = error as NodeJS.ErrnoException
    return `${code}: ${message}`
  }
  return 'no error'
}

/** Calls as JavaScript makes them, where no compiler says what is wrong. */
const wrong = <Value>(value: unknown): Value => value as Value

describe('an argument that is forgotten or another', () => {
  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [{ store: memory() }, 'an object'],
    [{ authenticate: () => null }, 'an object'],
    [Promise.resolve(holdfast), 'an object'],
    [handler, 'a function'],
  ])('[CF1] createHandler and createRecordingProxy take no %o', async (value, told) => {
    expect(await faultOf(() => createHandler(wrong(value)))).toBe(
      `bad-option: createHandler takes what createHoldfast returned, not ${told}.`,
    )
    const target = new URL('http://localhost:1')
    expect(await faultOf(() => createRecordingProxy(wrong(value), { target }))).toBe(
      `bad-option: createRecordingProxy takes what createHoldfast returned, not ${told}.`,
    )
  })

  const takers: readonly (readonly [string, (handler: Handler) => unknown])[] = [
    ['listen', (value) => listen(value, place)],
    ['toNodeHandler', (value) => toNodeHandler(value)],
    ['toNodeListener', (value) => toNodeListener(value)],
  ]

  describe.each(takers)('%s', (name, take) => {
    it.each([
      ['undefined', undefined],
      ['null', null],
      ['an object', { fetch: handler }],
    ])('[CF1] takes a handler, not %s', async (told, value) => {
      expect(await faultOf(() => take(wrong(value)))).toBe(
        `bad-option: ${name} takes a handler, a function (Request) => Promise<Response>, not ${told}.`,
      )
    })

    it('[CF1] takes no holdfast, and says what to make of it', async () => {
      expect(await faultOf(() => take(wrong(holdfast)))).toBe(
        `bad-option: ${name} takes a handler: ${name}(createHandler(holdfast)${name === 'listen' ? ', options' : ''}).`,
      )
    })
  })
})

async function start(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const wrap =
  'This handler takes a web Request. For node:http and Express wrap it: toNodeHandler(handler).'

/** `app.use('/api', handler)`: Express cuts the path off, and answers in HTML what the handler throws. */
const express = (middleware: (...args: readonly unknown[]) => unknown) =>
  createServer((request, response) => {
    const { url = '' } = request
    Object.assign(request, { originalUrl: url, baseUrl: '/api', url: url.replace('/api', '') })
    const next = () => response.writeHead(404).end()
    try {
      void middleware(request, response, next)
    } catch (error) {
      response.writeHead(500, { 'content-type': 'text/html' }).end(`<pre>${String(error)}</pre>`)
    }
  })

describe('a handler that was not wrapped', () => {
  const servers: readonly (readonly [string, () => Server])[] = [
    ['createServer', () => createServer(wrong(handler))],
    ['Express', () => express(wrong(handler))],
  ]

  it.each(servers)('[HT1] in %s answers what to do, and logs it', async (_, create) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const url = await start(create())
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${url}/api/threads`, { method })
      expect(response.status).toBe(500)
      expect(await response.json()).toEqual({ error: { code: 'internal', message: wrap } })
    }
    expect(log.mock.calls).toEqual([1, 2].map(() => ['holdfast:', wrap]))
  })

  it('[HT1] where there is no response to write to rejects with it', async () => {
    const passed: unknown[] = []
    const url = await start(
      createServer((request: IncomingMessage, response: ServerResponse) => {
        passed.push(request)
        response.end()
      }),
    )
    await fetch(url)
    const [request] = passed
    const fastify = { raw: request, headers: {}, url: '/api/threads' }
    const reply = { raw: {}, hijack: () => {} }
    for (const args of [[request], [fastify, reply], [{ headers: {} }], [undefined]]) {
      const call = handler as (...args: readonly unknown[]) => Promise<Response>
      expect(await faultOf(() => call(...args))).toBe(`bad-option: ${wrap}`)
    }
  })

  it('[HT1] takes the requests of other platforms: what has the methods of one', async () => {
    const { method, url, headers, signal } = new Request('http://127.0.0.1/api/health')
    const response = await handler(wrong({ method, url, headers, signal }))
    expect(response.status).toBe(200)
  })
})

describe('a handler that was wrapped for nothing', () => {
  it.each([
    ['toNodeHandler', toNodeHandler],
    ['toNodeListener', toNodeListener],
  ] as const)('[HT1] by %s: is a 500, and the log says what to pass', async (name, wrapIt) => {
    const logged: unknown[] = []
    const server = await listen(wrong(wrapIt(handler)), {
      ...place,
      onError: (error) => logged.push(error),
    })
    onTestFinished(() => server.close())
    expect((await fetch(`${server.url}/api/threads`)).status).toBe(500)
    expect(logged).toEqual([
      new HoldfastError(
        'bad-option',
        `${name} has made this handler for node:http, Express or Fastify. Pass listen, Hono or Next the handler that it was made from.`,
      ),
    ])
  })
})

describe('a port or an address that listen cannot have', () => {
  it('[CF1] in use: says so, with what to do', async () => {
    const server = await listen(handler, place)
    onTestFinished(() => server.close())
    const port = Number(new URL(server.url).port)
    const fault = await listen(handler, { ...place, port }).catch((error: unknown) => error)
    expect(fault).toMatchObject({
      code: 'EADDRINUSE',
      message: `Port ${port} is in use. Choose another with \`port\`, or 0 for any.`,
    })
  })

  it('[CF1] not of this machine: says so, with what to do', async () => {
    // An address for documentation, which no machine has.
    expect(await faultOf(() => listen(handler, { port: 0, host: '192.0.2.1' }))).toBe(
      'EADDRNOTAVAIL: This machine has no address 192.0.2.1. Choose another with `host`.',
    )
  })
})
