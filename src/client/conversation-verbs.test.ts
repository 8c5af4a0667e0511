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
import { parseMessageId } from '../core/ids.ts'
import type { InputMode } from '../core/queued-input.ts'
import { ApiError } from '../protocol/api-error.ts'
import { createThreadClient } from './thread-client.ts'

const hi = [{ type: 'text', text: 'hi' }] as const
const queued = (id: string, mode: InputMode = 'queue'): NewEvent => ({
  type: 'input-queued',
  at: 5,
  input: { id: parseMessageId(id), mode, parts: [{ type: 'text', text: id }] },
})
const revised = (id: string, change: { text?: string; before?: string | null }): NewEvent => ({
  type: 'input-revised',
  at: 5,
  messageId: parseMessageId(id),
  ...(change.text === undefined ? {} : { parts: [{ type: 'text', text: change.text }] }),
  ...(change.before === undefined
    ? {}
    : { before: change.before === null ? null : parseMessageId(change.before) }),
})
const withdrawn = (id: string): NewEvent => ({
  type: 'input-withdrawn',
  at: 5,
  messageId: parseMessageId(id),
})

async function open() {
  const server = createScriptedServer(messageAdded('a'), messageAdded('b'))
  let ids = 0
  const newId = () => `new-${++ids}`
  const client = createThreadClient({ ...server.options, threadId: 't', newId })
  client.subscribe(() => {})
  await settled()
  server.drainRequests()
  const lastRequest = () => server.requests.slice(-1).map(({ line, body }) => ({ line, body }))
  const shown = () => client.getSnapshot().messages.map(({ id }) => id as string)
  const pending = () => client.getSnapshot().pending.map(({ id, state }) => `${id} ${state}`)
  const queue = () =>
    client.getSnapshot().queue.map(({ id, parts, held, mode }) => {
      const [part] = parts
      const text = part?.type === 'text' ? part.text : ''
      return [id, text, mode, ...(held ? ['held'] : [])].join(' ')
    })
  let stored = 2
  /** Stores events, and sends them as a frame. */
  const happen = async (...events: readonly NewEvent[]) => {
    server.store(...events)
    await server.stream().frame(server.frameAfter(stored))
    stored += events.length
  }
  return { server, client, lastRequest, shown, pending, queue, happen }
}

describe('a queued input', () => {
  it('[IN1] sends `whenBusy` with the message, also when it is retried', async () => {
    const { server, client, lastRequest, pending } = await open()
    server.on(/chat/, () => refusal(503, 'store-locked'))
    await expect(client.send(hi, { whenBusy: 'steer' })).rejects.toBeInstanceOf(ApiError)
    expect(lastRequest()).toMatchObject([{ line: 'POST /api/chat', body: { whenBusy: 'steer' } }])
    expect(pending()).toEqual(['new-1 failed'])
    server.on(/chat/, () => eventStream('data: [DONE]\n\n'))
    await client.retry('new-1')
    expect(lastRequest()).toMatchObject([
      { body: { whenBusy: 'steer', messages: [{ id: 'new-1', role: 'user', parts: hi }] } },
    ])
  })

  it('[IN1] leaves `whenBusy` to the server where none was given', async () => {
    const { server, client } = await open()
    server.on(/chat/, () => eventStream('data: [DONE]\n\n'))
    await client.send(hi)
    expect(server.requests.at(-1)?.body).not.toHaveProperty('whenBusy')
  })

  it('[IN2] is in the queue as soon as it is stored, no longer in flight, and then in the thread', async () => {
    const { server, client, pending, queue, shown, happen } = await open()
    server.on(/chat/, () => null)
    void client.send(hi)
    expect(pending()).toEqual(['new-1 sending'])
    await happen(queued('new-1'))
    expect([pending(), queue(), shown()]).toEqual([[], ['new-1 new-1 queue'], ['a', 'b']])
    await happen(messageAdded('new-1'))
    expect([pending(), queue(), shown()]).toEqual([[], [], ['a', 'b', 'new-1']])
  })

  it('[IN2] [IN5] is shown as it was revised, moved, withdrawn, held and released', async () => {
    const { queue, happen } = await open()
    await happen(queued('x'), queued('y', 'steer'), queued('z'))
    await happen(revised('x', { text: 'other words' }), revised('z', { before: 'x' }))
    expect(queue()).toEqual(['z z queue', 'x other words queue', 'y y steer'])
    await happen(withdrawn('x'), { type: 'queue-held', at: 5 })
    // There is no turn any more that it could join.
    expect(queue()).toEqual(['z z queue held', 'y y queue held'])
    await happen({ type: 'queue-released', at: 5 }, revised('z', { before: null }))
    expect(queue()).toEqual(['y y queue', 'z z queue'])
  })

  it('[IN2] comes with the page, for a client that loads later', async () => {
    const server = createScriptedServer(messageAdded('a'))
    const input = { id: 'x', text: 'x', parts: hi, mode: 'queue', held: true }
    server.on(/messages/, () =>
      Response.json({
        results: [],
        nextCursor: null,
        seq: 1,
        queue: [{ ...input, at: '2026-01-01T00:00:00.000Z' }],
      }),
    )
    const client = createThreadClient({ ...server.options, threadId: 't' })
    client.subscribe(() => {})
    await settled()
    const at = Date.UTC(2026, 0, 1)
    expect(client.getSnapshot().queue).toEqual([
      { id: 'x', parts: hi, mode: 'queue', held: true, at },
    ])
  })

  it('[IN2] [IN5] is edited, moved, withdrawn and released by its own route', async () => {
    const { server, client, lastRequest } = await open()
    server.on(/queue/, ({ line }) =>
      line.startsWith('DELETE') ? new Response(null, { status: 204 }) : Response.json({}),
    )
    const base = '/api/threads/t/queue'
    await client.editQueued('x/y', 'words')
    expect(lastRequest()).toEqual([{ line: `PATCH ${base}/x%2Fy`, body: { text: 'words' } }])
    await client.moveQueued('x', 'y')
    expect(lastRequest()).toEqual([{ line: `PATCH ${base}/x`, body: { before: 'y' } }])
    await client.moveQueued('x', null)
    expect(lastRequest()).toEqual([{ line: `PATCH ${base}/x`, body: { before: null } }])
    await client.withdraw('x')
    expect(lastRequest()).toEqual([{ line: `DELETE ${base}/x`, body: undefined }])
    await client.release()
    expect(lastRequest()).toEqual([{ line: `POST ${base}/release`, body: {} }])
  })

  it('[IN2] stays unchanged when the run took it first, and the change rejects', async () => {
    const { server, client, queue, happen } = await open()
    await happen(queued('x'))
    server.on(/queue/, () => refusal(409, 'input-taken'))
    for (const change of [
      () => client.editQueued('x', 'words'),
      () => client.moveQueued('x', null),
      () => client.withdraw('x'),
    ]) {
      await expect(change()).rejects.toMatchObject({ status: 409, code: 'input-taken' })
    }
    expect(queue()).toEqual(['x x queue'])
  })
})

describe('versions and forks', () => {
  it('[VR1] a version is shown when it has been read, and its effects are returned', async () => {
    const { server, client, lastRequest, shown } = await open()
    const effects = [{ toolCallId: 'c', toolName: 'charge_card' }]
    server.on(/show/, () => {
      server.store(retired('b'), messageAdded('b2'))
      return Response.json({ messageId: 'b2', effects, seq: 4 })
    })
    expect(await client.show('b2')).toEqual({ messageId: 'b2', effects })
    expect(shown()).toEqual(['a', 'b2'])
    expect(server.requests.map(({ line }) => line)).toContain(
      'POST /api/threads/t/messages/b2/show',
    )
    expect(lastRequest()[0]?.line).toContain('GET /api/threads/t/messages?')
  })

  it('[VR1] while a turn runs no other version is shown, and the request rejects', async () => {
    const { server, client, shown } = await open()
    server.on(/show/, () => refusal(409, 'run-active'))
    await expect(client.show('b2')).rejects.toMatchObject({ code: 'run-active' })
    expect(shown()).toEqual(['a', 'b'])
  })

  it('[VR1] an edit names what it replaces, a regenerated answer its message', async () => {
    const { server, client, lastRequest } = await open()
    server.on(/chat/, () => eventStream('data: [DONE]\n\n'))
    await client.send(hi, { replaces: 'b' })
    expect(lastRequest()).toMatchObject([{ body: { messageId: 'b', trigger: 'submit-message' } }])
    await client.regenerate('turn-1')
    expect(lastRequest()).toMatchObject([
      { body: { messageId: 'turn-1', trigger: 'regenerate-message', messages: [] } },
    ])
  })

  it('[VR1] an edit that is in flight, or failed, is not shown beside the message that it replaces', async () => {
    const { server, client, pending } = await open()
    const answer = Promise.withResolvers<Response>()
    server.on(/chat/, () => answer.promise)
    const sending = client.send(hi, { replaces: 'b' })
    expect(pending()).toEqual([])
    answer.resolve(refusal(503, 'store-locked'))
    await expect(sending).rejects.toMatchObject({ code: 'store-locked' })
    expect(pending()).toEqual([])
  })

  it.each<[string | undefined, object]>([
    ['b', { messageId: 'b' }],
    [undefined, {}],
  ])('[VR4] a fork of %s is made by its route, and its id is given back', async (at, body) => {
    const { server, client, lastRequest } = await open()
    server.on(/fork/, () => Response.json({ id: 't2', title: 'A fork' }))
    expect(await client.fork(at)).toEqual({ threadId: 't2' })
    expect(lastRequest()).toEqual([{ line: 'POST /api/threads/t/fork', body }])
  })

  it('[VR4] a fork that is refused rejects', async () => {
    const { server, client } = await open()
    server.on(/fork/, () => refusal(404, 'not-found'))
    await expect(client.fork('nothing')).rejects.toMatchObject({ code: 'not-found' })
  })
})
