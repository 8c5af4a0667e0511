import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import {
  createScriptedServer,
  eventStream,
  refusal,
  messageAdded,
} from '../../test/support/scripted-server.ts'
import { ApiError } from '../protocol/api-error.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClientOptions } from './thread-client-options.ts'

function open(options: Partial<ThreadClientOptions> = {}) {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  let ids = 0
  const newId = () => `new-${++ids}`
  const client = createThreadClient({ ...server.options, threadId: 't', newId, ...options })
  const shown = () => client.getSnapshot().messages.map(({ id }) => id as string)
  const pending = () =>
    client.getSnapshot().pending.map(({ id, state, error }) => [id, state, error ?? ''].join(' '))
  const leftOver = () => [server.openStreams(), server.clock.timers()]
  return { server, client, shown, pending, leftOver }
}
const hi = [{ type: 'text', text: 'hi' }] as const
const nothingLeft = [0, []]

describe('a message that is written here', () => {
  const stored = () => eventStream('data: [DONE]\n\n')

  it('[LG6] shows at once, and then as it is stored', async () => {
    const { server, client, shown, pending } = open()
    client.subscribe(() => {})
    await settled()
    const answer = Promise.withResolvers<Response>()
    server.on(/chat/, () => answer.promise)
    const sending = client.send(hi)
    expect(pending()).toEqual(['new-1 sending '])
    server.store(messageAdded('new-1'))
    await server.stream().frame(server.frameAfter(2))
    expect([pending(), shown()]).toEqual([[], ['a', 'b', 'new-1']])
    answer.resolve(stored())
    await sending
    expect(pending()).toEqual([])
  })

  it.each([
    ['the thread is being answered', () => refusal(409, 'run-active'), 'run-active.'],
    ['it is too long', () => refusal(413, 'too-large'), 'too-large.'],
    ['there are too many', () => refusal(429, 'too-many'), 'too-many.'],
    ['nothing can be stored', () => refusal(503, 'store-locked'), 'store-locked.'],
    ['nobody is signed in', () => refusal(401, 'not-authenticated'), 'not-authenticated.'],
    [
      'a proxy answers',
      () => new Response('<html>', { status: 502 }),
      'The server responded with 502.',
    ],
    [
      'nobody answers',
      () => Promise.reject(new TypeError('fetch failed')),
      'The server cannot be reached.',
    ],
  ])(
    '[RS9] [LG6] stays as not sent when %s, and is sent again under its id',
    async (_, refuse, words) => {
      const { server, client, pending } = open()
      client.subscribe(() => {})
      await settled()
      const heal = server.on(/chat/, refuse)
      await expect(client.send(hi)).rejects.toThrow(words)
      expect(pending()).toEqual([`new-1 failed ${words}`])
      heal()
      server.on(/chat/, stored)
      await client.retry('new-1')
      expect(pending()).toEqual(['new-1 sending '])
      const bodies = server.requests.filter(({ line }) => line.includes('chat'))
      expect(bodies.map(({ body }) => body)).toEqual(
        Array.from({ length: 2 }, () => bodies[0]?.body),
      )
      expect(client.getSnapshot().connection.status).toBe('live')
    },
  )

  it('[RS9] that was discarded in flight does not come back when it is refused', async () => {
    const { server, client, pending } = open()
    server.on(/chat/, async () => {
      client.discard('new-1')
      return refusal(503, 'store-locked')
    })
    await expect(client.send(hi)).rejects.toThrow('store-locked.')
    expect(pending()).toEqual([])
  })

  it('[RS9] is put back after a reload, once', () => {
    const { client, pending } = open()
    const unsent = [{ id: 'x', parts: hi, state: 'failed' }] as const
    client.restore(unsent)
    client.restore(unsent)
    expect(pending()).toEqual(['x failed '])
  })

  it.each([
    ['a chat that is new', { isNew: true }],
    ['a chat that was not there', {}],
  ])('[RS8] begins %s, and it is followed', async (_, options) => {
    const { server, client, shown } = open(options)
    const heal = server.on(/threads/, () => refusal(404, 'thread-not-found'))
    client.subscribe(() => {})
    await settled()
    expect(server.openStreams()).toBe(0)
    heal()
    server.on(/chat/, stored)
    await client.send(hi)
    await settled()
    expect(client.getSnapshot().connection).toEqual({ status: 'live', attempt: 0 })
    expect(shown()).toEqual(['a', 'b'])
  })

  it('[RS8] opens no connection without a subscriber', async () => {
    const { server, client, leftOver } = open({ isNew: true })
    const answer = Promise.withResolvers<Response>()
    server.on(/chat/, () => answer.promise)
    const leave = client.subscribe(() => {})
    const sending = client.send(hi)
    leave()
    answer.resolve(stored())
    await sending
    await settled()
    expect(leftOver()).toEqual(nothingLeft)
  })
})

describe('a decision', () => {
  it('[AP2] that is sent twice is answered twice, and the second answer names the first decider', async () => {
    const { server, client } = open()
    let count = 0
    const decided = {
      code: 'already-decided',
      message: 'Too late.',
      decidedBy: 'ann',
      decision: 'reject',
    }
    server.on(/decision/, () =>
      count++ === 0
        ? Response.json({ status: 'rejected' })
        : Response.json({ error: decided }, { status: 409 }),
    )
    const answers = [
      client.decide('c/1', { decision: 'reject' }),
      client.decide('c/1', { decision: 'accept' }),
    ]
    const [first, second] = await Promise.allSettled(answers)
    expect(first?.status).toBe('fulfilled')
    const details = { decidedBy: 'ann', decision: 'reject' }
    expect(second).toEqual({
      status: 'rejected',
      reason: new ApiError(409, 'already-decided', 'Too late.', details),
    })
    expect(second).toMatchObject({ reason: { status: 409, code: 'already-decided', details } })
    expect(server.drainRequests()).toEqual(
      Array.from({ length: 2 }, () => 'POST /tool-calls/c%2F1/decision'),
    )
  })
})
