import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import {
  createScriptedServer,
  refusal,
  retired,
  messageAdded,
} from '../../test/support/scripted-server.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClientOptions } from './thread-client-options.ts'

/** A client that follows a thread of two messages. */
async function follow(options: Partial<ThreadClientOptions> = {}) {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  const client = createThreadClient({ ...server.options, threadId: 't', ...options })
  const leave = client.subscribe(() => {})
  await settled()
  server.drainRequests()
  const ids = () => client.getSnapshot().messages.map(({ id }) => id as string)
  const status = () => client.getSnapshot().connection.status
  return { server, client, leave, ids, status }
}
type Following = Awaited<ReturnType<typeof follow>>

const text = (frame: unknown) => `data: ${JSON.stringify(frame)}\n\n`
const event = (seq: number, id: string) => ({ ...messageAdded(id), seq })
const reads = ['GET ', 'GET /messages?format=ledger&results=lazy&limit=30']

describe('what arrives over the connection', () => {
  const cases: Readonly<
    Record<
      string,
      {
        /** What the server sends; c (3) and d (4) are stored by then. */
        readonly sent: string
        readonly shown: readonly string[]
        /** After which the client stays where it is, connects again, or reads what is stored. */
        readonly next: 'live' | 'connects again' | 'reads again'
      }
    >
  > = {
    'the next frame': {
      sent: text({ after: 2, seq: 3, events: [event(3, 'c')] }),
      shown: ['a', 'b', 'c'],
      next: 'live',
    },
    'the same frame twice': {
      sent: text({ after: 2, seq: 3, events: [event(3, 'c')] }).repeat(2),
      shown: ['a', 'b', 'c'],
      next: 'live',
    },
    'a frame of an older place': {
      sent: text({ after: 0, seq: 2, events: [event(1, 'x'), event(2, 'y')] }),
      shown: ['a', 'b'],
      next: 'live',
    },
    'a frame that begins before the place and ends after it': {
      sent: text({ after: 1, seq: 3, events: [event(2, 'x'), event(3, 'c')] }),
      shown: ['a', 'b', 'c'],
      next: 'live',
    },
    'a frame with a gap before it': {
      sent: text({ after: 3, seq: 4, events: [event(4, 'd')] }),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'a frame that is not JSON': {
      sent: 'data: {"after": 2, "seq"\n\n',
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'JSON that is no frame': {
      sent: text(null),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'a frame without numbers': {
      sent: text({ events: [event(3, 'c')] }),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'a frame whose numbers go back': {
      sent: text({ after: 2, seq: 2, events: [] }),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'a frame of events that are none': {
      sent: text({ after: 2, seq: 3, events: [null] }),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'a turn that is none': {
      sent: text({ after: 2, seq: 3, turn: { id: 'z' } }),
      shown: ['a', 'b', 'c', 'd'],
      next: 'reads again',
    },
    'an event of a type that this version does not know': {
      sent: text({ after: 2, seq: 3, events: [{ seq: 3, at: 1, type: 'thread-painted' }] }),
      shown: ['a', 'b'],
      next: 'live',
    },
    'an event with a name that this version does not know': {
      sent: 'event: weather\ndata: sunny\n\n',
      shown: ['a', 'b'],
      next: 'live',
    },
    'a comment': { sent: ': still here\n\n', shown: ['a', 'b'], next: 'live' },
    'a note about saving that is not JSON': {
      sent: 'event: saving\ndata: {\n\n',
      shown: ['a', 'b'],
      next: 'connects again',
    },
  }

  it.each(Object.entries(cases))('[RS9] %s', async (_, { sent, shown, next }) => {
    const { server, ids, status } = await follow()
    server.store(messageAdded('c'), messageAdded('d'))
    await server.stream().send(sent)
    expect(status()).toBe(next === 'live' ? 'live' : 'backing-off')
    await server.clock.advance(250)
    expect(ids()).toEqual(shown)
    expect(status()).toBe('live')
    expect(server.openStreams()).toBe(1)
    expect(server.drainRequests()).toEqual(
      {
        live: [],
        'connects again': ['GET /events?after=2'],
        'reads again': [...reads, 'GET /events?after=4'],
      }[next],
    )
  })

  it('[RS9] an unknown event keeps its number, so that the next frame follows', async () => {
    const { server, ids } = await follow()
    const painted = { seq: 3, at: 1, type: 'turn-painted', turnId: 'q' }
    await server.stream().send(text({ after: 2, seq: 3, events: [painted] }))
    await server.stream().send(text({ after: 3, seq: 4, events: [event(4, 'd')] }))
    expect(ids()).toEqual(['a', 'b', 'd'])
    expect(server.drainRequests()).toEqual([])
  })

  it('[RS2] shows that saving is interrupted, until it is not or another connection is open', async () => {
    const { server, client } = await follow()
    const isInterrupted = () => client.getSnapshot().isSavingInterrupted
    const note = (status: string) => server.stream().send(`event: saving\n${text({ status })}`)
    await note('saving-interrupted')
    expect(isInterrupted()).toBe(true)
    await note('saving')
    expect(isInterrupted()).toBe(false)
    await note('saving-interrupted')
    await server.stream().end()
    await server.clock.advance(250)
    expect(isInterrupted()).toBe(false)
  })
})

describe('how a connection ends', () => {
  const ends: Readonly<Record<string, (following: Following) => Promise<void>>> = {
    'in good order': ({ server }) => server.stream().end(),
    broken: ({ server }) => server.stream().break(),
    'in the middle of a frame': async ({ server }) => {
      await server.stream().send('id: 3\ndata: {"after": 2, "seq": 3, "eve')
      await server.stream().end()
    },
    'between the bytes of one character': async ({ server }) => {
      await server.stream().send(new TextEncoder().encode('data: "ü').slice(0, -1))
      await server.stream().break()
    },
  }
  it.each(Object.entries(ends))('[RS2] %s: it goes on from its place', async (_, end) => {
    const following = await follow()
    const { server, ids, status } = following
    await end(following)
    expect(status()).toBe('backing-off')
    server.store(messageAdded('c'))
    await server.clock.advance(250)
    expect(server.drainRequests()).toEqual(['GET /events?after=2'])
    await server.stream().frame(server.frameAfter(2))
    expect(ids()).toEqual(['a', 'b', 'c'])
  })
})

describe('a thread that was created again under its id', () => {
  it('[RS9] is read again, where the server does not have the place', async () => {
    const { server, client, ids, status } = await follow()
    const before = client.getSnapshot()
    server.makeAnew(messageAdded('new'))
    server.on(/^GET \/api\/threads\/t$/, () => Response.json({ title: 'Another' }))
    await server.stream().end()
    await server.clock.advance(250)
    // Until the new one is there, the old one is shown, and not as live.
    expect([ids(), status()]).toEqual([before.messages.map(({ id }) => id), 'backing-off'])
    await server.clock.advance(500)
    expect([ids(), status()]).toEqual([['new'], 'live'])
    expect(client.getSnapshot().title).toBe('Another')
    expect(server.drainRequests()).toEqual(['GET /events?after=2', ...reads, 'GET /events?after=1'])
  })

  it('[RS9] is read again at intervals, where the server never has the place', async () => {
    const { server } = await follow()
    server.on(/events/, () => refusal(400, 'bad-request'))
    await server.stream().end()
    await server.clock.advance(60_000)
    const requests = server.drainRequests().filter((line) => line.includes('/events')).length
    expect(requests).toBeGreaterThan(5)
    expect(requests).toBeLessThan(15)
  })

  it('[RS9] that is empty shows nothing of the one before', async () => {
    const { server, ids, status } = await follow()
    server.makeAnew()
    await server.stream().end()
    await server.clock.advance(1_000)
    expect([ids(), status()]).toEqual([[], 'live'])
  })

  it('[RS9] is not mixed with a page of the one before', async () => {
    const { server, client, ids } = await follow({ pageSize: 1 })
    expect(ids()).toEqual(['b'])
    const page = Promise.withResolvers<Response>()
    server.on(/cursor=/, () => page.promise)
    const older = client.loadOlder()
    server.makeAnew(messageAdded('new'))
    await server.stream().end()
    await server.clock.advance(1_000)
    expect(ids()).toEqual(['new'])
    const { seq: _, ...stale } = { ...event(1, 'a'), id: 'a' }
    page.resolve(Response.json({ results: [{ ...stale, seq: 1 }], nextCursor: null, seq: 2 }))
    await older
    expect(ids()).toEqual(['new'])
    expect(client.getSnapshot()).toMatchObject({ hasOlder: false, isLoadingOlder: false })
  })
})

describe('older pages while live', () => {
  it('[RS9] [PG4] join what came meanwhile, in order and once', async () => {
    const { server, client, ids } = await follow({ pageSize: 1 })
    const gate = Promise.withResolvers<void>()
    server.on(/cursor=/, async () => {
      await gate.promise
      return Response.json({ results: [messageOf('a', 1)], nextCursor: null, seq: 2 })
    })
    const older = Promise.all([client.loadOlder(), client.loadOlder()])
    server.store(messageAdded('c'))
    await server.stream().frame(server.frameAfter(2))
    expect(client.getSnapshot().isLoadingOlder).toBe(true)
    gate.resolve()
    await older
    expect(ids()).toEqual(['a', 'b', 'c'])
    expect(server.drainRequests()).toHaveLength(1)
    expect(client.getSnapshot()).toMatchObject({ hasOlder: false, isLoadingOlder: false })
  })

  it('[RS9] do not bring back what was retired while they were in flight', async () => {
    const { server, client, ids } = await follow({ pageSize: 1 })
    const gate = Promise.withResolvers<void>()
    server.on(/cursor=/, async () => {
      await gate.promise
      return Response.json({ results: [messageOf('a', 1)], nextCursor: null, seq: 2 })
    })
    const older = client.loadOlder()
    server.store(retired('a'), messageAdded('c'))
    await server.stream().frame(server.frameAfter(2))
    gate.resolve()
    await older
    expect(ids()).toEqual(['b', 'c'])
  })

  it('[RS9] that fail can be requested again', async () => {
    const { server, client, ids } = await follow({ pageSize: 1 })
    const heal = server.on(/cursor=/, () => refusal(503, 'store-locked'))
    await expect(client.loadOlder()).rejects.toThrow('store-locked.')
    expect(client.getSnapshot()).toMatchObject({ hasOlder: true, isLoadingOlder: false })
    heal()
    await client.loadOlder()
    expect(ids()).toEqual(['a', 'b'])
    expect(client.getSnapshot().connection.status).toBe('live')
  })
})

const messageOf = (id: string, seq: number) => ({
  role: 'user',
  id,
  seq,
  parts: [{ type: 'text', text: id }],
  createdAt: 1,
})
