import { memory, parseThreadId, type Store } from 'holdfast'
import { expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

/** A store, and the names of the verbs that were called on it since they were last asked for. */
function countVerbs(store: Store): { readonly store: Store; readonly drain: () => string[] } {
  let called: string[] = []
  const counted = new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function') return value
      return (...args: readonly unknown[]) => {
        called.push(String(name))
        return Reflect.apply(value, target, args) as unknown
      }
    },
  })
  return {
    store: counted,
    drain() {
      const drained = called
      called = []
      return drained
    },
  }
}

interface UiPart {
  readonly type: string
  readonly state?: string
  readonly approval?: { readonly id: string }
}
interface UiMessage {
  readonly role: string
  readonly parts: readonly UiPart[]
}

/** The reads and commits from an approval over `/api/chat` until its tool has begun, in a turn with so many calls that have ended. */
async function verbsOfApproval(ended: number): Promise<readonly string[]> {
  const { store, drain } = countVerbs(memory())
  const server = await startChatServer(
    (_, step) => {
      if (step === 0) {
        return Array.from({ length: ended }, () => ({ call: 'weather', input: { city: 'Oslo' } }))
      }
      return step === 1 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]
    },
    { store },
  )
  const chat = async (message: object) => {
    const response = await fetch(`${server.url}/api/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ id: 't', messages: [message] }),
    })
    const text = await response.text()
    expect([response.status, text]).toEqual([200, expect.stringContaining('[DONE]')])
  }
  await chat({ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] })
  await server.holdfast.settled()
  const response = await fetch(`${server.url}/api/threads/t/messages?limit=1`)
  const page = (await response.json()) as { readonly results: readonly UiMessage[] }
  const [message] = page.results
  expect(message?.parts.filter(({ state }) => state === 'output-available')).toHaveLength(ended)
  drain()
  await chat({
    ...message,
    parts: message?.parts.map((part) =>
      part.state === 'approval-requested'
        ? { ...part, state: 'approval-responded', approval: { ...part.approval, approved: true } }
        : part,
    ),
  })
  await server.holdfast.settled()
  expect(server.ran.filter((name) => name === 'remove')).toHaveLength(1)
  return drain()
}

it('[AP2] an approval over the chat route costs the same, however many calls of the turn have ended', async () => {
  const few = await verbsOfApproval(1)
  const many = await verbsOfApproval(50)
  // What follows the commit is read beside the run, in any order.
  expect(many.toSorted()).toEqual(few.toSorted())
  const before = (verbs: readonly string[]) => verbs.slice(0, verbs.indexOf('commit'))
  const reads = ['findTurn', 'readCall']
  expect([before(few), before(many)]).toEqual([reads, reads])
})

/** A turn that waits for one decision, on a store whose verbs are counted. */
async function waitingCall() {
  const { store, drain } = countVerbs(memory())
  const server = await startChatServer(
    (_, step) => (step === 0 ? [{ call: 'remove', input: { path: '/tmp' } }] : [{ text: 'Done.' }]),
    { store },
  )
  const sent = await fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }),
  })
  const toolCallId = /"toolCallId":"([^"]+)"/.exec(await sent.text())?.[1] ?? ''
  await server.holdfast.settled()
  drain()
  return { ...server, drain, toolCallId }
}

it('[AP2] a decision is one read and one commit before its tool starts', async () => {
  const { url, toolCallId, drain, holdfast, ran } = await waitingCall()
  const response = await fetch(`${url}/api/threads/t/tool-calls/${toolCallId}/decision`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'accept' }),
  })
  await holdfast.settled()
  const verbs = drain()
  expect([response.status, ran]).toEqual([200, ['remove']])
  expect(verbs.slice(0, verbs.indexOf('commit'))).toEqual(['readCall'])
})

it('[HT2] a decision or a resolution for an owner is not found in the thread of another, and nothing runs', async () => {
  const { holdfast, toolCallId, ran } = await waitingCall()
  const threadId = parseThreadId('t')
  const of = (ownerId: string) =>
    holdfast.decide({
      threadId,
      ownerId,
      by: 'a job',
      decisions: [{ toolCallId, decision: 'accept' }],
    })
  expect(await of('somebody else')).toEqual([{ kind: 'not-found' }])
  expect(
    await holdfast.resolve({
      threadId: 't',
      ownerId: 'somebody else',
      toolCallId,
      resolution: 'skip',
      by: 'a job',
    }),
  ).toEqual({ kind: 'not-found' })
  await holdfast.settled()
  expect(ran).toEqual([])
  expect(await of('local')).toEqual([{ kind: 'accepted' }])
  await holdfast.settled()
  expect(ran).toEqual(['remove'])
})
