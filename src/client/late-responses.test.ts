import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import {
  createScriptedServer,
  eventStream,
  refusal,
  retired,
  messageAdded,
} from '../../test/support/scripted-server.ts'
import type { NewEvent } from '../core/event.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClientOptions } from './thread-client-options.ts'

function open(options: Partial<ThreadClientOptions> = {}) {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  const newId = () => 'new'
  const client = createThreadClient({ ...server.options, threadId: 't', newId, ...options })
  const shown = () => client.getSnapshot().messages.map(({ id }) => id as string)
  const pending = () => client.getSnapshot().pending.map(({ id, state }) => `${id} ${state}`)
  const status = () => client.getSnapshot().connection.status
  return { server, client, shown, pending, status }
}
async function follow(options: Partial<ThreadClientOptions> = {}) {
  const opened = open(options)
  const leave = opened.client.subscribe(() => {})
  await settled()
  opened.server.drainRequests()
  return { ...opened, leave }
}
const hi = [{ type: 'text', text: 'hi' }] as const
const stored = () => eventStream('data: [DONE]\n\n')
const shownAgain: NewEvent = { type: 'messages-shown', at: 1, places: [1] }
const renamed: NewEvent = { type: 'thread-renamed', at: 1, title: 'Another' }
/** Another version, shown by another page. */
const versionShown = [retired('b'), messageAdded('b2'), shownAgain]
const message = (id: string, seq: number) => ({ role: 'user', id, seq, parts: hi, createdAt: 1 })
const pageOf = (seq: number, ...ids: readonly string[]) =>
  Response.json({ results: ids.map((id) => message(id, seq)), nextCursor: null, seq })

describe('a connection that is replaced', () => {
  it('[RS8] [VR2] while it is live, because a version could not be read, is opened again', async () => {
    const { server, shown, status } = await follow()
    const heal = server.on(/messages/, () => refusal(503, 'store-locked'))
    server.store(...versionShown)
    await server.stream().frame(server.frameAfter(2))
    expect([shown(), status()]).toEqual([['a', 'b'], 'backing-off'])
    heal()
    await server.clock.advance(250)
    expect([shown(), status(), server.openStreams()]).toEqual([['a', 'b2'], 'live', 1])
  })

  it('[OP6] while it is live, because an older page has another history, is opened again', async () => {
    const { server, client, shown, status } = await follow({ pageSize: 1 })
    server.makeAnew(messageAdded('x'), messageAdded('y'))
    const heal = server.on(/cursor=/, () => refusal(409, 'other-history'))
    await client.loadOlder()
    heal()
    await settled()
    expect([shown(), status(), server.openStreams()]).toEqual([['y'], 'live', 1])
    server.store(messageAdded('z'))
    await server.stream().frame(server.frameAfter(2))
    expect(shown()).toEqual(['y', 'z'])
  })

  it('[RS8] while it is opened, because the first message was stored, is not refused by an earlier response', async () => {
    const { server, client, shown, status } = open()
    const early = Promise.withResolvers<Response>()
    const heal = server.on(/threads/, () => early.promise)
    client.subscribe(() => {})
    await settled()
    server.on(/chat/, stored)
    heal()
    await client.send(hi)
    early.resolve(refusal(404, 'thread-not-found'))
    await settled()
    expect([shown(), status(), server.openStreams()]).toEqual([['a', 'b'], 'live', 1])
  })

  it.each(Array.from({ length: 10 }, (_, steps) => steps))(
    '[RS9] shows nothing more, however far a frame had come: %i steps',
    async (steps) => {
      const { server, client, leave, shown } = await follow()
      server.store(messageAdded('c'))
      const sent = server.stream().frame(server.frameAfter(2))
      for (let step = 0; step < steps; step++) await Promise.resolve()
      leave()
      const before = client.getSnapshot()
      await sent
      expect(client.getSnapshot()).toBe(before)
      client.subscribe(() => {})
      await settled()
      if (before.messages.length === 2) await server.stream().frame(server.frameAfter(2))
      expect(shown()).toEqual(['a', 'b', 'c'])
    },
  )
})

describe('two reads of the newest messages', () => {
  it('[RS9] [VR1] an earlier one that arrives later does not replace what a version has shown', async () => {
    const { server, client, shown } = open()
    const early = Promise.withResolvers<Response>()
    const heal = server.on(/messages\?/, () => early.promise)
    const seen: string[] = []
    client.subscribe(() => void seen.push(shown().join(' ')))
    await settled()
    heal()
    server.on(/show$/, () => {
      server.store(...versionShown)
      return Response.json({ messageId: 'b2', effects: [], seq: 5 })
    })
    await client.show('b2')
    early.resolve(pageOf(2, 'b', 'a'))
    await settled()
    expect([...new Set(seen)]).toEqual(['', 'a b2'])
    expect(client.getSnapshot()).toMatchObject({ status: 'ready', title: 'A thread' })
    expect(server.drainRequests().at(-1)).toBe('GET /events?after=5')
  })

  it('[RS9] [VR2] one that the connection has overtaken is discarded, with the frames that do not continue it', async () => {
    const { server, client, leave, shown } = await follow()
    const early = Promise.withResolvers<Response>()
    const heal = server.on(/messages\?/, () => early.promise)
    server.store(...versionShown)
    await server.stream().frame(server.frameAfter(2))
    leave()
    heal()
    server.store(messageAdded('c'))
    client.subscribe(() => {})
    await settled()
    server.store(messageAdded('d'))
    await server.stream().frame(server.frameAfter(6))
    expect(shown()).toEqual(['a', 'b2', 'c', 'd'])
    early.resolve(pageOf(5, 'b2', 'a'))
    await settled()
    expect(shown()).toEqual(['a', 'b2', 'c', 'd'])
  })

  it('[RS9] [VR1] a version that is shown without a connection comes with the title of its time', async () => {
    const { server, client, shown } = await follow()
    await server.stream().end()
    server.on(/show$/, () => {
      server.store(renamed, ...versionShown)
      return Response.json({ messageId: 'b2', effects: [], seq: 6 })
    })
    server.on(/^GET \/api\/threads\/t$/, () => Response.json({ title: 'Another', seq: 6 }))
    await client.show('b2')
    await server.clock.advance(250)
    expect([shown(), client.getSnapshot().title]).toEqual([['a', 'b2'], 'Another'])
    expect(server.drainRequests().at(-1)).toBe('GET /events?after=6')
  })

  it('[RS9] [VR1] a version that is shown before anybody looks is ready when somebody does', async () => {
    const { server, client, shown } = open()
    server.on(/show$/, () => Response.json({ messageId: 'b', effects: [], seq: 2 }))
    await client.show('b')
    client.subscribe(() => {})
    await settled()
    expect([shown(), client.getSnapshot().status]).toEqual([['a', 'b'], 'ready'])
    expect(client.getSnapshot().title).toBe('A thread')
  })
})

describe('two requests with one message', () => {
  it('[LG6] [RS9] the failure of the earlier one does not end the later one', async () => {
    const { server, client, pending } = open()
    const answers = [0, 1].map(() => Promise.withResolvers<Response>())
    let count = 0
    server.on(/chat/, () => answers[count++]?.promise)
    const first = client.send(hi)
    const second = client.retry('new')
    answers[0]?.resolve(refusal(503, 'store-locked'))
    await expect(first).rejects.toMatchObject({ code: 'store-locked' })
    expect(pending()).toEqual(['new sending'])
    answers[1]?.resolve(refusal(413, 'too-large'))
    await expect(second).rejects.toMatchObject({ code: 'too-large' })
    expect(pending()).toEqual(['new failed'])
  })
})
