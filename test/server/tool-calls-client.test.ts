import {
  type ChatMessage,
  createThreadClient,
  createToolCallsClient,
  projectChatMessage,
  type ThreadClient,
} from 'holdfast/client'
import { expect, it } from 'vitest'
import { createSignal } from '../support/signal.ts'
import { type Script, startChatServer } from './chat-server.ts'

const threadId = 'followed'

/** A page on a server: what it asks for is written down. */
async function open(script: Script) {
  const { url, holdfast } = await startChatServer(script)
  const asked: string[] = []
  const streams = new Set<string>()
  const streamsChanged = createSignal()
  const count: typeof fetch = async (input, init) => {
    const path = (input as string).slice(url.length)
    asked.push(path)
    if (path.includes('/events?')) {
      const name = `${asked.length} ${path}`
      streams.add(name)
      streamsChanged.notify()
      init?.signal?.addEventListener('abort', () => {
        streams.delete(name)
        streamsChanged.notify()
      })
    }
    return fetch(input, init)
  }
  const options = { baseUrl: url, fetch: count }
  const clients = new Map<string, ThreadClient>()
  const thread = (id: string) => {
    const client = clients.get(id) ?? createThreadClient({ ...options, threadId: id })
    clients.set(id, client)
    return client
  }
  const toolCalls = (messageId: string, include?: 'all') => {
    const client = createToolCallsClient({
      ...options,
      messageId,
      thread,
      ...(include === undefined ? {} : { include }),
    })
    const seen: string[] = []
    const changed = createSignal()
    const note = () => {
      const { toolCalls: calls, isComplete, isLoading } = client.getSnapshot()
      const states = calls.map(({ name, state }) => `${name} ${state}`).join(', ')
      seen.push(`${isLoading ? 'loading ' : ''}${isComplete ? 'complete ' : ''}${states}`)
      changed.notify()
    }
    const leave = client.subscribe(note)
    const until = (fits: (last: string) => boolean) =>
      changed.until(() => seen.length > 0 && fits(seen.at(-1) ?? ''))
    return { client, seen, leave, until }
  }
  const send = async (text: string) => {
    const sent = await holdfast.send({
      threadId,
      message: { id: crypto.randomUUID(), parts: [{ type: 'text', text }] },
      create: { ownerId: 'local', title: '' },
    })
    return (sent as { readonly turnId: string }).turnId
  }
  const lists = () => asked.filter((path) => path.startsWith('/api/messages/'))
  const untilStreams = (count: number) => streamsChanged.until(() => streams.size === count)
  return { url, holdfast, toolCalls, send, lists, asked, streams, untilStreams, thread }
}

it('[CL9 RS2] the calls of a message follow it over one connection, and nothing is asked twice', async () => {
  const server = await open((_, step) =>
    step === 0
      ? [
          { call: 'weather', input: { city: 'Oslo' } },
          { call: 'boom', input: {} },
          { call: 'hang', input: {} },
        ]
      : [{ text: 'Done.' }],
  )
  const messageId = await server.send('go')
  const lists = [server.toolCalls(messageId), server.toolCalls(messageId, 'all')]
  const other = server.toolCalls(messageId)
  await other.until((last) => last.includes('hang running'))
  for (const list of lists) await list.until((last) => last.includes('hang running'))
  await server.untilStreams(1)
  await server.holdfast.stop(threadId)
  for (const list of lists) await list.until((last) => last.startsWith('complete'))
  // One that fails leaves the list of what is open or succeeded, and stays in the list of all.
  expect(lists[0]?.seen.at(-1)).toBe('complete weather succeeded')
  expect(lists[1]?.seen.at(-1)).toBe('complete weather succeeded, boom failed, hang stopped')
  expect(server.lists()).toHaveLength(3)
  // It is over: no connection is kept for it.
  await server.untilStreams(0)
  for (const list of [...lists, other]) list.leave()
})

it('[CL9] whoever leaves follows no longer', async () => {
  const server = await open(() => [{ call: 'hang', input: {} }])
  const list = server.toolCalls(await server.send('go'))
  await list.until((last) => last.includes('hang running'))
  await server.untilStreams(1)
  list.leave()
  expect(server.streams.size).toBe(0)
  const { length } = list.seen
  await server.holdfast.stop(threadId)
  expect(list.seen).toHaveLength(length)
  // Coming back shows how it ended.
  const changed = createSignal()
  const again = list.client.subscribe(changed.notify)
  await changed.until(() => list.client.getSnapshot().isComplete)
  again()
})

it('[CL9 PG7] a large result is whole, also where the page of the thread leaves it out', async () => {
  const city = 'x'.repeat(50_000)
  const server = await open((_, step) =>
    step === 0
      ? [
          { call: 'weather', input: { city } },
          { call: 'hang', input: {} },
        ]
      : [],
  )
  const messageId = await server.send('go')
  const list = server.toolCalls(messageId)
  await list.until((last) => last.includes('weather succeeded, hang running'))
  await server.holdfast.stop(threadId)
  await list.until((last) => last.startsWith('complete'))
  const [call] = list.client.getSnapshot().toolCalls
  expect(call?.result).toEqual({ city, tempC: 20 })
  list.leave()
})

it('[CL9] a turn that goes on again is followed where somebody follows its thread', async () => {
  const server = await open((_, step) =>
    step === 0 ? [{ call: 'hang', input: {} }] : [{ call: 'weather', input: { city: 'Oslo' } }],
  )
  const messageId = await server.send('go')
  const list = server.toolCalls(messageId, 'all')
  await list.until((last) => last.includes('hang running'))
  const leaveThread = server.thread(threadId).subscribe(() => {})
  await server.holdfast.stop(threadId)
  await list.until((last) => last === 'complete hang stopped')
  await server.holdfast.continue(threadId)
  await list.until((last) => last.includes('weather'))
  expect(server.lists()).toHaveLength(1)
  await server.holdfast.stop(threadId)
  list.leave()
  leaveThread()
})

it('[CL9] a message that is not there has no calls, and is asked for once', async () => {
  const server = await open(() => [{ text: 'Hi' }])
  const list = server.toolCalls('nobody')
  const none = { toolCalls: [], isComplete: false, isLoading: false }
  await list.until((last) => last === '')
  expect(list.client.getSnapshot()).toEqual(none)
  expect(server.asked).toHaveLength(1)
  list.leave()
})

it('[FD6 LG4] whoever follows the thread has the chat view of the page, at every step of a turn', async () => {
  const server = await open((_, step) =>
    step === 0 ? [{ text: 'Looking.' }, { call: 'hang', input: {} }] : [],
  )
  const client = server.thread(threadId)
  const messageId = await server.send('go')
  const changed = createSignal()
  const leave = client.subscribe(changed.notify)
  const shown = () => {
    const turn = client.getSnapshot().messages.find(({ id }) => id === messageId)
    return turn === undefined ? undefined : projectChatMessage(turn)
  }
  const page = async () => {
    const response = await fetch(`${server.url}/api/threads/${threadId}/messages?format=chat`)
    const { results } = (await response.json()) as { readonly results: readonly ChatMessage[] }
    return results[0]
  }
  await changed.until(() => shown()?.toolActivity?.currentStep === 'hang')
  expect(shown()?.toolActivity?.isActive).toBe(true)
  expect(await page()).toEqual(shown())
  await server.holdfast.stop(threadId)
  await changed.until(() => shown()?.toolActivity?.isActive === false)
  expect(await page()).toEqual(shown())
  leave()
})
