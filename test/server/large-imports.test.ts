import { createHoldfast, memory, type Store } from 'holdfast'
import { createHandler, type Handler, type HandlerOptions } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'
import { createSignal } from '../support/signal.ts'
import { stallBody } from './stalled-body.ts'

function serve(store: Store, options: HandlerOptions = {}): Handler {
  const holdfast = createHoldfast({ store, recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  return createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? '' }),
    ...options,
  })
}

const send = (handler: Handler, owner: string, thread: string, chars: number) => {
  const messages = Array.from({ length: 5 }, (_, nth) => ({
    id: `${thread}-${nth}`,
    role: 'user',
    parts: [{ type: 'text', text: 'x'.repeat(chars / 5) }],
  }))
  return handler(
    new Request('http://localhost/api/import', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-owner': owner },
      body: JSON.stringify({ threads: [{ id: thread, messages }] }),
    }),
  )
}

const large = 4_300_000

it('[OP7b] large imports of one person are stored one after the other, while another’s, and a small one, pass', async () => {
  const store = memory()
  const gate = Promise.withResolvers<void>()
  const committed = createSignal()
  /** The threads of all commits, in the order in which they were asked for. */
  const commits: string[] = []
  const handler = serve({
    ...store,
    async commit(planned) {
      const threads = planned.map(({ append }) => append.threadId)
      commits.push(...threads)
      committed.notify()
      if (threads.includes('ana-1')) await gate.promise
      return store.commit(planned)
    },
  })
  const hasBegun = (thread: string) => commits.includes(thread)
  const first = send(handler, 'ana', 'ana-1', large)
  await committed.until(() => hasBegun('ana-1'))
  const second = send(handler, 'ana', 'ana-2', large)
  const other = await send(handler, 'ben', 'ben-1', large)
  expect(await other.json()).toMatchObject({ messages: 5, failed: [] })
  const small = await send(handler, 'ana', 'ana-3', 1_000)
  expect(await small.json()).toMatchObject({ messages: 5, failed: [] })
  // Both came after the second, and are stored: it waits for the first.
  expect([hasBegun('ana-1'), hasBegun('ana-2')]).toEqual([true, false])

  gate.resolve()
  for (const response of await Promise.all([first, second])) {
    expect(await response.json()).toMatchObject({ messages: 5, failed: [] })
  }
  expect(commits.lastIndexOf('ana-1')).toBeLessThan(commits.indexOf('ana-2'))
})

it('[OP7b] one person whose imports never end leaves as many places to others as they have', async () => {
  const handler = serve(memory())
  /** How many imports with a body that does not end are let in. */
  const fill = async (owner: string) => {
    for (let open = 0; ; open++) {
      const headers = { 'x-owner': owner }
      const outcome = await stallBody(handler, '/api/import', { headers, begin: '{' }).outcome
      if (outcome !== 'stalled') return { open, status: outcome.status }
    }
  }
  expect(await fill('eve')).toEqual({ open: 4, status: 429 })
  expect(await fill('ana')).toEqual({ open: 4, status: 429 })
})
