import { createServer } from 'node:http'
import { networkInterfaces } from 'node:os'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory } from 'holdfast'
import { createHandler, listen, toNodeListener } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { requestAt } from '../support/request-at.ts'

const holdfast = createHoldfast({
  store: memory(),
  model: scriptedModel(() => []),
  recoverEveryMs: 0,
})
const handler = createHandler(holdfast)

async function serve(host: string) {
  const server = await listen(handler, { port: 0, host })
  onTestFinished(() => server.close())
  return Number(new URL(server.url).port)
}

const elsewhere = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address

describe('without authentication', () => {
  it('[HT4] answers its own machine, by every name that it has for itself', async () => {
    const port = await serve('127.0.0.1')
    for (const name of ['127.0.0.1', 'localhost', 'LocalHost', 'chat.localhost', '[::1]']) {
      const host = `${name}:${port}`
      const origin = `http://${host.toLowerCase()}`
      const { status } = await requestAt(port, '127.0.0.1', { headers: { host, origin } })
      expect({ name, status }).toEqual({ name, status: 200 })
    }
  })

  it('[HT4] refuses a name that was made to point here', async () => {
    const port = await serve('127.0.0.1')
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example']) {
      const headers = { host, origin: `http://${host}` }
      const { status, text } = await requestAt(port, '127.0.0.1', { headers })
      expect({ status, text }).toMatchObject({ status: 403 })
      expect(text).toContain('foreign-host')
    }
  })

  // A machine without a network has no address but its own loopback ones.
  it.skipIf(elsewhere === undefined)(
    '[HT4] refuses who comes from elsewhere and only says localhost (skipped without a network)',
    async () => {
      const port = await serve('0.0.0.0')
      const headers = { host: 'localhost' }
      const { status, text } = await requestAt(port, elsewhere ?? '', { headers })
      expect(status).toBe(403)
      expect(text).toContain('no-authentication')
      expect(text).toContain('`authenticate`')
      expect((await requestAt(port, '127.0.0.1', { headers })).status).toBe(200)
    },
  )

  it('[HT4] refuses what a proxy on this machine lets in from elsewhere', async () => {
    const port = await serve('127.0.0.1')
    const headers = { host: 'localhost', 'x-forwarded-for': '203.0.113.9' }
    expect((await requestAt(port, '127.0.0.1', { headers })).text).toContain('no-authentication')
  })
})

/** What Express does to a request that it hands to what is mounted at `/api`. */
function mount(readsBodies: boolean) {
  const listener = toNodeListener(handler, { onError: () => undefined })
  return createServer((incoming, outgoing) => {
    Object.assign(incoming, { originalUrl: incoming.url })
    incoming.url = (incoming.url ?? '').slice('/api'.length)
    if (!readsBodies) {
      listener(incoming, outgoing)
      return
    }
    incoming.on('data', () => undefined)
    incoming.on('end', () => listener(incoming, outgoing))
  })
}

describe('in a framework on Node’s own server', () => {
  const start = async (readsBodies: boolean) => {
    const server = mount(readsBodies)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => void server.close())
    return (server.address() as AddressInfo).port
  }
  const json = { 'content-type': 'application/json' }

  it('[HT1] is mounted under a path, and reads the body itself', async () => {
    const port = await start(false)
    const { status, text } = await requestAt(port, '127.0.0.1', { headers: json, body: '{}' })
    expect([status, JSON.parse(text)]).toMatchObject([201, { title: '' }])
  })

  it('[HT1] says so, instead of waiting for ever, where the body was read before it', async () => {
    const port = await start(true)
    const { status, text } = await requestAt(port, '127.0.0.1', { headers: json, body: '{}' })
    expect(status).toBe(500)
    expect(text).toContain('internal')
    expect((await requestAt(port, '127.0.0.1')).status).toBe(200)
  })
})
