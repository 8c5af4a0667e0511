import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import {
  type Answer,
  createScriptedServer,
  eventStream,
  refusal,
  messageAdded,
} from '../../test/support/scripted-server.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClientOptions } from './thread-client-options.ts'

function open(options: Partial<ThreadClientOptions> = {}) {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  const client = createThreadClient({ ...server.options, threadId: 't', ...options })
  const connection = () => client.getSnapshot().connection
  const ids = () => client.getSnapshot().messages.map(({ id }) => id as string)
  return { server, client, connection, ids }
}
async function follow(options: Partial<ThreadClientOptions> = {}) {
  const opened = open(options)
  const leave = opened.client.subscribe(() => {})
  await settled()
  opened.server.drainRequests()
  return { ...opened, leave }
}

const unreachable: Answer = () => Promise.reject(new TypeError('fetch failed'))
const html: Answer = () =>
  new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } })

/** The length of each wait, while every response is this one. */
async function waits(answer: Answer, count: number, options: Partial<ThreadClientOptions> = {}) {
  const { server, connection } = await follow(options)
  server.on(/events/, answer)
  await server.stream().end()
  const delays: number[] = []
  for (let index = 0; index < count; index++) {
    const now = connection()
    if (now.status !== 'backing-off') throw new Error(`It is ${now.status}.`)
    expect(server.clock.timers()).toEqual([now.delayMs])
    delays.push(now.delayMs)
    await server.clock.advance(now.delayMs)
  }
  return delays
}

describe('a server that does not serve', () => {
  const growing = [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000]
  it.each<readonly [string, Answer]>([
    ['is not there', unreachable],
    ['answers 500', () => refusal(500, 'internal')],
    ['answers 502 without a body of ours', () => new Response('Bad Gateway', { status: 502 })],
    ['answers 503', () => refusal(503, 'store-unreachable')],
    ['answers 429', () => refusal(429, 'too-many')],
    ['answers 408', () => refusal(408, 'timeout')],
    ['answers with a page that is no event stream', html],
    ['answers with nothing', () => new Response(null, { status: 204 })],
    ['ends each stream at once', () => eventStream(': open\n\n')],
    ['sends what cannot be read', () => eventStream('data: {\n\n')],
  ])('[RS8] that %s is retried less and less often', async (_, answer) => {
    // The first connection was open for no time at all.
    expect(await waits(answer, 8)).toEqual(growing)
  })

  it.each([
    ['0', 0],
    ['7', 7_000],
    [' 7 ', 7_000],
    ['7.5', 0],
    ['-7', 0],
    ['soon', 0],
    ['', 0],
    ['99999999999', 300_000],
    // The clock is at 08:53:20, and the first wait has passed by then.
    ['Thu, 09 Oct 2025 08:53:50 GMT', 29_750],
    ['Thu, 09 Oct 2025 08:00:00 GMT', 0],
  ])('[RS8] is not retried before Retry-After: %s', async (value, retryAfterMs) => {
    for (const status of [429, 503]) {
      const delays = await waits(() => refusal(status, 'later', { 'retry-after': value }), 2)
      expect(delays).toEqual([250, retryAfterMs + 500])
    }
  })

  it('[RS8] with another clock is retried by that clock', async () => {
    const headers = {
      'retry-after': 'Thu, 01 Jan 2015 00:00:20 GMT',
      date: 'Thu, 01 Jan 2015 00:00:00 GMT',
    }
    expect(await waits(() => refusal(503, 'later', headers), 2)).toEqual([250, 20_500])
  })

  it('[RS8] that has served again is retried soon after the next loss', async () => {
    const { server, connection } = await follow()
    const heal = server.on(/events/, unreachable)
    await server.stream().end()
    await server.clock.advance(250 + 500 + 1_000)
    expect(connection()).toEqual({ status: 'backing-off', attempt: 4, delayMs: 2_000 })
    heal()
    await server.clock.advance(2_000)
    expect(connection().status).toBe('live')
    server.store(messageAdded('c'))
    await server.stream().frame(server.frameAfter(2))
    await server.stream().break()
    expect(connection()).toEqual({ status: 'backing-off', attempt: 1, delayMs: 250 })
  })

  it('[RS8] has served also if nothing happened, when the connection stayed open for a while', async () => {
    const { server, connection } = await follow()
    await server.stream().end()
    await server.clock.advance(250)
    await server.clock.advance(4_999)
    await server.stream().end()
    expect(connection()).toMatchObject({ attempt: 2 })
    await server.clock.advance(500)
    await server.clock.advance(5_000)
    await server.stream().end()
    expect(connection()).toMatchObject({ attempt: 1 })
  })
})

describe('a server that refuses', () => {
  it.each([
    [401, 'not-authenticated'],
    [403, 'foreign-origin'],
    [404, 'thread-not-found'],
    [410, 'gone'],
    [421, 'http-error'],
  ])('[RS8] with %i is not retried, and the state shows it', async (status, code) => {
    const answer = () =>
      code === 'http-error' ? new Response('', { status }) : refusal(status, code)
    const { server, connection, ids } = await follow()
    server.on(/threads/, answer)
    await server.stream().end()
    await server.clock.advance(3_600_000)
    expect(connection()).toEqual({ status: 'refused', code })
    expect(server.drainRequests()).toEqual(['GET /events?after=2'])
    expect(server.clock.timers()).toEqual([])
    // The view stays.
    expect(ids()).toEqual(['a', 'b'])
  })

  it.each(['/t$', 'messages', 'events'])(
    '[RS8] whichever request it refuses first: %s',
    async (path) => {
      const { server, client, connection } = open()
      server.on(new RegExp(path), () => refusal(401, 'not-authenticated'))
      client.subscribe(() => {})
      await server.clock.advance(3_600_000)
      expect(connection()).toEqual({ status: 'refused', code: 'not-authenticated' })
      expect([server.openStreams(), server.clock.timers()]).toEqual([0, []])
    },
  )

  it('[RS8] is retried after a sign-in, with the new headers', async () => {
    let token = 'old'
    const { server, client, connection, ids } = open({ headers: () => ({ authorization: token }) })
    server.on(/./, ({ headers }) =>
      headers['authorization'] === 'old' ? refusal(401, 'not-authenticated') : undefined,
    )
    client.subscribe(() => {})
    await settled()
    expect(connection()).toEqual({ status: 'refused', code: 'not-authenticated' })
    token = 'new'
    client.reconnect()
    await settled()
    expect(connection().status).toBe('live')
    expect(ids()).toEqual(['a', 'b'])
  })

  it('[RS8] is retried by a new subscriber', async () => {
    const { server, client, connection, leave } = await follow()
    const heal = server.on(/events/, () => refusal(401, 'not-authenticated'))
    await server.stream().end()
    await server.clock.advance(250)
    expect(connection().status).toBe('refused')
    heal()
    leave()
    expect(connection().status).toBe('idle')
    client.subscribe(() => {})
    await settled()
    expect(connection().status).toBe('live')
  })
})

describe('reconnect', () => {
  it('[RS8] does not wait any longer', async () => {
    const { server, client, connection } = await follow()
    await server.stream().end()
    expect(connection().status).toBe('backing-off')
    client.reconnect()
    await settled()
    expect(connection().status).toBe('live')
    expect(server.clock.timers()).toEqual([45_000])
    expect(server.openStreams()).toBe(1)
  })

  it('[RS8] changes nothing while it is connected, or without a subscriber', async () => {
    const { server, client, leave } = await follow()
    client.reconnect()
    await settled()
    leave()
    client.reconnect()
    await settled()
    expect([server.drainRequests(), server.openStreams()]).toEqual([[], 0])
  })
})

describe('a device without a network', () => {
  it('[RS8] shows it at once, and goes on when the network is back', async () => {
    const { server, connection, ids } = await follow()
    await server.setOnline(false)
    expect([connection(), server.openStreams()]).toEqual([{ status: 'offline' }, 0])
    await server.clock.advance(9_999)
    expect(server.drainRequests()).toEqual([])
    server.store(messageAdded('c'))
    await server.setOnline(true)
    expect(server.drainRequests()).toEqual(['GET /events?after=2'])
    await server.stream().frame(server.frameAfter(2))
    expect(ids()).toEqual(['a', 'b', 'c'])
  })

  it('[RS8] that wrongly reports it is tried all the same', async () => {
    const { server, connection } = await follow()
    await server.setOnline(false)
    await server.clock.advance(10_000)
    expect(connection()).toEqual({ status: 'live', attempt: 1 })
  })

  it('[RS8] does not wait for its turn once the network is back', async () => {
    const { server, connection } = await follow()
    await server.stream().end()
    expect(connection().status).toBe('backing-off')
    await server.setOnline(true)
    expect(connection().status).toBe('live')
  })
})

describe('silence', () => {
  it('[RS8] for 45 seconds ends a connection; a comment is no silence', async () => {
    const { server, connection } = await follow()
    await server.clock.advance(44_000)
    await server.stream().send(': still here\n\n')
    await server.clock.advance(44_000)
    expect(connection().status).toBe('live')
    await server.clock.advance(1_000)
    expect([connection().status, server.openStreams()]).toEqual(['backing-off', 0])
  })

  it('[RS8] of a response that never comes, too', async () => {
    const { server, connection } = await follow()
    server.on(/events/, () => null)
    await server.stream().end()
    await server.clock.advance(250)
    expect(connection().status).toBe('connecting')
    await server.clock.advance(45_000)
    expect(connection()).toMatchObject({ status: 'backing-off', attempt: 2 })
  })

  it('[RS8] does not begin before the page is read', async () => {
    const { server, client, connection } = open()
    const page = Promise.withResolvers<void>()
    server.on(/messages/, async () => {
      await page.promise
      return Response.json({ results: [], nextCursor: null, seq: 2 })
    })
    client.subscribe(() => {})
    await server.clock.advance(44_000)
    page.resolve()
    await server.clock.advance(44_000)
    expect(connection()).toEqual({ status: 'live', attempt: 0 })
    expect(server.drainRequests().filter((line) => line.includes('events'))).toHaveLength(1)
  })
})
