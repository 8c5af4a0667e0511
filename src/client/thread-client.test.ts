import { describe, expect, it, vi } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { createScriptedServer, refusal, messageAdded } from '../../test/support/scripted-server.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClientOptions } from './thread-client-options.ts'

function open(options: Partial<ThreadClientOptions> = {}) {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  const client = createThreadClient({ ...server.options, threadId: 't', ...options })
  const shown = () => client.getSnapshot().messages.map(({ id }) => id as string)
  const leftOver = () => [server.openStreams(), server.clock.timers()]
  return { server, client, shown, leftOver }
}
const nothingLeft = [0, []]

describe('a subscriber', () => {
  it('[RS8] shares one connection with all others, which ends with the last', async () => {
    const { server, client, leftOver } = open()
    const calls = [0, 0, 0]
    const leave = [0, 1].map((index) => client.subscribe(() => void (calls[index] = index + 1)))
    client.observe(() => void (calls[2] = 3))
    await settled()
    expect(calls).toEqual([1, 2, 3])
    expect(server.drainRequests().filter((line) => line.includes('events'))).toHaveLength(1)
    leave[0]?.()
    leave[0]?.()
    expect(server.openStreams()).toBe(1)
    leave[1]?.()
    await settled()
    expect(leftOver()).toEqual(nothingLeft)
    expect(client.getSnapshot().connection).toEqual({ status: 'idle' })
  })

  it('[RS8] that only observes connects nothing', async () => {
    const { server, client } = open()
    client.observe(() => {})
    await settled()
    expect(server.drainRequests()).toEqual([])
  })

  it('[RS8] that returns sees what was loaded, and goes on from it', async () => {
    const { server, client, shown } = open()
    client.subscribe(() => {})()
    client.subscribe(() => {})
    await settled()
    server.drainRequests()
    const leave = client.subscribe(() => {})
    leave()
    server.store(messageAdded('c'))
    await server.stream().frame(server.frameAfter(2))
    expect(shown()).toEqual(['a', 'b', 'c'])
    expect(server.drainRequests()).toEqual([])
  })

  it('[RS8] that throws affects neither the others nor the connection', async () => {
    const report = vi.fn()
    vi.stubGlobal('reportError', report)
    const { server, client, shown } = open()
    client.subscribe(() => {
      throw new Error('a bug of the page')
    })
    let last: readonly string[] = []
    client.subscribe(() => void (last = shown()))
    await settled()
    server.drainRequests()
    server.store(messageAdded('c'))
    await server.stream().frame(server.frameAfter(2))
    vi.unstubAllGlobals()
    expect(last).toEqual(['a', 'b', 'c'])
    expect([server.drainRequests(), server.openStreams()]).toEqual([[], 1])
    expect(report).toHaveBeenCalledWith(new Error('a bug of the page'))
  })
})

describe('leaving', () => {
  const never = () => null
  it.each<readonly [string, (opened: ReturnType<typeof open>) => Promise<void>]>([
    ['while the page is read', async ({ server }) => void server.on(/messages/, never)],
    ['while the thread is read', async ({ server }) => void server.on(/t$/, never)],
    ['while it connects', async ({ server }) => void server.on(/events/, never)],
    ['while it is live', async () => {}],
    ['while it waits', async ({ server }) => void server.on(/t$/, () => refusal(503, 'later'))],
    ['while it is offline', ({ server }) => server.setOnline(false)],
    ['after a refusal', async ({ server }) => void server.on(/t$/, () => refusal(404, 'gone'))],
  ])('[RS8] %s leaves nothing behind', async (_, prepare) => {
    const opened = open()
    const { server, client, leftOver } = opened
    await prepare(opened)
    const leave = client.subscribe(() => {})
    await settled()
    leave()
    await settled()
    expect(leftOver()).toEqual(nothingLeft)
    expect(client.getSnapshot().connection).toEqual({ status: 'idle' })
    for (const { signal } of server.requests) expect(signal?.aborted).toBe(true)
    const before = server.requests.length
    await server.clock.advance(3_600_000)
    expect(server.requests).toHaveLength(before)
  })

  it.each(['connecting', 'live', 'backing-off'])(
    '[RS8] in the middle of a notification that it is %s',
    async (status) => {
      const { server, client, leftOver } = open()
      const leave: () => void = client.subscribe(() => {
        if (client.getSnapshot().connection.status === status) queueMicrotask(() => leave())
      })
      const other = client.observe(() => {
        if (client.getSnapshot().connection.status === status) leave?.()
      })
      await settled()
      if (status === 'backing-off') await server.stream().end()
      other()
      expect(leftOver()).toEqual(nothingLeft)
    },
  )

  it('[RS8] a `fetch` that ignores signals makes no difference', async () => {
    const { server, client, shown, leftOver } = open()
    const fetchDeaf: typeof fetch = (input, { signal: _, ...init } = {}) =>
      server.options.fetch(input, init)
    const deaf = createThreadClient({ ...server.options, threadId: 't', fetch: fetchDeaf })
    const page = Promise.withResolvers<Response>()
    const heal = server.on(/messages/, () => page.promise)
    deaf.subscribe(() => {})()
    heal()
    const leave = deaf.subscribe(() => {})
    await settled()
    const ids = () => deaf.getSnapshot().messages.map(({ id }) => id as string)
    expect(ids()).toEqual(['a', 'b'])
    // The response to the first request comes late, and is outdated.
    page.resolve(Response.json({ results: [], nextCursor: null, seq: 0 }))
    await settled()
    expect(ids()).toEqual(['a', 'b'])
    leave()
    await settled()
    expect(leftOver()).toEqual(nothingLeft)
    expect([client.getSnapshot().status, shown()]).toEqual(['loading', []])
  })

  it('[RS8] a stream that is opened too late is closed', async () => {
    const { server } = open()
    const late = Promise.withResolvers<Response>()
    server.on(/events/, () => late.promise)
    const fetchDeaf: typeof fetch = (input, { signal: _, ...init } = {}) =>
      server.options.fetch(input, init)
    const deaf = createThreadClient({ ...server.options, threadId: 't', fetch: fetchDeaf })
    const leave = deaf.subscribe(() => {})
    await settled()
    leave()
    let isCancelled = false
    const body = new ReadableStream({ cancel: () => void (isCancelled = true) })
    late.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
    await settled()
    expect(isCancelled).toBe(true)
  })
})
