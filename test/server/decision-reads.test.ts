import { memory, type Store } from 'holdfast'
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
