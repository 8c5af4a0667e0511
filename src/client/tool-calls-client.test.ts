import { describe, expect, it } from 'vitest'
import { settled } from '../../test/support/scripted-clock.ts'
import { type Answer, createScriptedServer, refusal } from '../../test/support/scripted-server.ts'
import { completed } from '../../test/support/call-events.ts'
import { callEvents, openStep } from '../../test/support/turn-events.ts'
import type { NewEvent } from '../core/event.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import { createThreadClient } from './thread-client.ts'
import type { ThreadClient } from './thread-snapshot.ts'
import { createToolCallsClient } from './tool-calls-client.ts'

const turnId = parseMessageId('m')
const turn = (...events: readonly object[]): readonly NewEvent[] =>
  events.map((event) => ({ ...event, turnId, at: 1 }) as NewEvent)
const [recorded, started, ended] = turn(...callEvents('c', 'succeeded'))
const started0 = turn({ type: 'turn-started', replyTo: null }, ...openStep(0))

const over = [
  started as NewEvent,
  ended as NewEvent,
  ...turn({ type: 'step-ended', finishReason: 'stop' }, completed),
]
const omitted = (id: string) => ({
  type: 'call-settled',
  callId: parseCallId(id),
  outcome: { state: 'succeeded', output: { kind: 'omitted', bytes: 20_000 } },
})

/** A turn whose call is recorded, and the response of the route for its calls. */
function open() {
  const server = createScriptedServer(...started0, recorded as NewEvent)
  const calls = { toolCalls: [{ id: 'c', name: 'tool', state: 'ready' }], isComplete: false }
  server.on(/tool-calls/, () => Response.json({ ...calls, threadId: 't', seq: 3 }))
  const clients: ThreadClient[] = []
  const client = createToolCallsClient({
    ...server.options,
    messageId: 'm',
    thread(threadId) {
      if (clients.length === 0) clients.push(createThreadClient({ ...server.options, threadId }))
      return clients.at(-1) as ThreadClient
    },
  })
  const shown = () => {
    const { toolCalls, isComplete, isLoading } = client.getSnapshot()
    return [toolCalls.map(({ id, state }) => `${id} ${state}`).join(), isComplete, isLoading]
  }
  const leftOver = () => [server.openStreams(), server.clock.timers()]
  return { server, client, shown, leftOver, clients }
}
const nothingLeft = [0, []]

describe('the calls of a message', () => {
  it('[CL9] are read once, and then follow the events of the thread', async () => {
    const { server, client, shown, leftOver } = open()
    expect(shown()).toEqual(['', false, true])
    const leave = client.subscribe(() => {})
    await settled()
    expect(shown()).toEqual(['c ready', false, false])
    server.store(started as NewEvent, ended as NewEvent)
    await server.stream().frame(server.frameAfter(3))
    expect(shown()).toEqual(['c succeeded', false, false])
    leave()
    await settled()
    expect(leftOver()).toEqual(nothingLeft)
    const reads = server.requests.filter(({ line }) => line.includes('tool-calls'))
    expect(reads).toHaveLength(1)
  })

  it('[CL9] [RS8] keep no connection when the thread shows at once that the turn is over', async () => {
    const { server, client, shown, leftOver } = open()
    server.store(...over)
    const first = client.subscribe(() => {})
    await settled()
    first()
    // The list is older than what the thread has loaded by now.
    const leave = client.subscribe(() => {})
    await settled()
    expect([shown(), leftOver()]).toEqual([['c succeeded', true, false], nothingLeft])
    leave()
  })

  it('[CL9] [RS8] that are left by whoever sees them first keep no connection', async () => {
    const { client, shown, leftOver } = open()
    const leave = client.subscribe(() => leave())
    await settled()
    expect([shown(), leftOver()]).toEqual([['c ready', false, false], nothingLeft])
  })

  it('[CL9] are read once more when another large result came during the read', async () => {
    const { server, client } = open()
    const calls = [...callEvents('c', 'running'), ...callEvents('d', 'running')].slice(1)
    client.subscribe(() => {})
    await settled()
    const reads: PromiseWithResolvers<Response>[] = []
    server.on(/tool-calls/, () => {
      const read = Promise.withResolvers<Response>()
      reads.push(read)
      return read.promise
    })
    server.store(...turn(...calls, omitted('c')))
    await server.stream().frame(server.frameAfter(3))
    server.store(...turn(omitted('d')))
    await server.stream().frame(server.frameAfter(7))
    expect(reads).toHaveLength(1)
    const record = (id: string, more: object) => ({ id, name: 'tool', ...more })
    const [c, d] = ['c', 'd'].map((id) => record(id, { state: 'succeeded', result: id.repeat(9) }))
    const answer = async (index: number, seq: number, ...toolCalls: readonly unknown[]) => {
      const list = { toolCalls, isComplete: false, threadId: 't', seq }
      reads[index]?.resolve(Response.json(list))
      await settled()
    }
    await answer(0, 7, c, record('d', { state: 'running' }))
    await answer(1, 8, c, d)
    expect(client.getSnapshot().toolCalls).toEqual([c, d])
    expect(reads).toHaveLength(2)
  })

  it.each<readonly [string, Answer, readonly number[]]>([
    ['nobody answers', () => Promise.reject(new TypeError('x')), [250, 500, 1_000, 2_000]],
    ['it gets 503', () => refusal(503, 'store-locked'), [250, 500, 1_000, 2_000]],
    ['it gets 408', () => refusal(408, 'timeout'), [250, 500, 1_000, 2_000]],
    [
      'the server asks to wait',
      () => refusal(429, 'too-many', { 'retry-after': '3' }),
      [3_250, 3_500, 4_000, 5_000],
    ],
    ['what comes is no list', () => new Response('<html>'), [250, 500, 1_000, 2_000]],
  ])('[RS8] are requested again, less and less often, when %s', async (_, answer, delays) => {
    const { server, client, shown } = open()
    const heal = server.on(/tool-calls/, answer)
    client.subscribe(() => {})
    for (const delay of delays) {
      await settled()
      expect(server.clock.timers()).toEqual([delay])
      await server.clock.advance(delay)
    }
    heal()
    expect(shown()).toEqual(['', false, true])
    await server.clock.advance(20_000)
    expect(shown()).toEqual(['c ready', false, false])
  })

  it.each([401, 403, 404, 410])('[RS8] are not requested again after %i', async (status) => {
    const { server, client, shown, leftOver, clients } = open()
    server.on(/tool-calls/, () => refusal(status, 'no'))
    client.subscribe(() => {})
    await server.clock.advance(3_600_000)
    expect(shown()).toEqual(['', false, false])
    expect([server.requests.length, leftOver(), clients]).toEqual([1, nothingLeft, []])
  })

  it.each<readonly [string, Answer]>([
    ['in flight', () => null],
    ['to be requested again', () => refusal(503, 'store-locked')],
  ])('[RS8] that are %s when nobody looks any more are left', async (_, answer) => {
    const { server, client, shown, leftOver, clients } = open()
    server.on(/tool-calls/, answer)
    const leave = client.subscribe(() => {})
    await settled()
    leave()
    await server.clock.advance(3_600_000)
    expect([server.requests.length, leftOver(), clients]).toEqual([1, nothingLeft, []])
    expect(server.requests[0]?.signal?.aborted).toBe(true)
    expect(shown()).toEqual(['', false, true])
  })
})
