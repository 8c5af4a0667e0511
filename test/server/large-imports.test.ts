import { type Clock, createHoldfast, memory, type Store } from 'holdfast'
import { createHandler, type Handler, type HandlerOptions } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'
import { createScriptedClock, settled } from '../support/scripted-clock.ts'
import { createSignal } from '../support/signal.ts'
import { stallBody, toStreamedRequest } from './stalled-body.ts'

function serve(
  store: Store,
  { clock, ...options }: HandlerOptions & { readonly clock?: Clock } = {},
): Handler {
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, ...(clock && { clock }) })
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

/** A body of which more has arrived than one that need not wait has in all. */
const openLarge = (handler: Handler, owner: string) =>
  stallBody(handler, '/api/import', {
    headers: { 'x-owner': owner },
    begin: `[{"id":"m","role":"user","content":"${'€'.repeat(large / 3)}"}`,
  })

const isReadOn = async ({ pulls }: ReturnType<typeof openLarge>) => {
  await settled()
  return pulls() > 1
}

it('[OP7 OP7b] of large imports, two are read at once in a process and one of each owner, and nothing more of the others', async () => {
  const handler = serve(memory())
  const first = openLarge(handler, 'ana')
  expect(await isReadOn(first)).toBe(true)
  const second = openLarge(handler, 'ana')
  expect(await isReadOn(second)).toBe(false)
  const ben = openLarge(handler, 'ben')
  expect(await isReadOn(ben)).toBe(true)
  const cleo = openLarge(handler, 'cleo')
  expect(await isReadOn(cleo)).toBe(false)
  expect((await send(handler, 'cleo', 'cleo-1', 1_000)).status).toBe(200)

  expect((await ben.abort()).status).toBe(400)
  expect(await isReadOn(cleo)).toBe(true)
  for (const body of [first, second, cleo]) {
    const response = await body.end(']')
    expect(await response.json()).toMatchObject({ messages: 1, failed: [] })
  }
})

it('[OP7] a large import that does not arrive keeps its place until another owner has waited for it', async () => {
  const clock = createScriptedClock()
  const handler = serve(memory(), { clock })
  const [ana, ben] = [openLarge(handler, 'ana'), openLarge(handler, 'ben')]
  expect([await isReadOn(ana), await isReadOn(ben)]).toEqual([true, true])
  await clock.advance(3_600_000)
  const cleo = openLarge(handler, 'cleo')
  expect(await isReadOn(cleo)).toBe(false)
  await clock.advance(59_999)
  expect(await isReadOn(cleo)).toBe(false)
  await clock.advance(1)
  const refused = await ana.response
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  expect(await refused.json()).toMatchObject({ error: { code: 'too-many' } })
  expect(await isReadOn(cleo)).toBe(true)
  for (const body of [ben, cleo]) expect((await body.end(']')).status).toBe(200)
})

it('[OP7] a large import that does not arrive keeps its place for as long as only owners wait who have one themselves', async () => {
  const clock = createScriptedClock()
  const handler = serve(memory(), { clock })
  const [ana, ben] = [openLarge(handler, 'ana'), openLarge(handler, 'ben')]
  expect([await isReadOn(ana), await isReadOn(ben)]).toEqual([true, true])
  const again = openLarge(handler, 'ben')
  expect(await isReadOn(again)).toBe(false)
  await clock.advance(240_000)
  expect((await again.response).status).toBe(429)
  for (const body of [ana, ben]) expect((await body.end(']')).status).toBe(200)
})

it('[OP7] a large import that does not arrive gives way in time when the clock of the system is set back', async () => {
  const clock = createScriptedClock()
  let setBackMs = 0
  const system = { ...clock, now: () => clock.now() - setBackMs, elapsed: clock.now }
  const handler = serve(memory(), { clock: system })
  const [ana, ben] = [openLarge(handler, 'ana'), openLarge(handler, 'ben')]
  expect([await isReadOn(ana), await isReadOn(ben)]).toEqual([true, true])
  setBackMs = 3_600_000
  const cleo = openLarge(handler, 'cleo')
  await settled()
  await clock.advance(60_000)
  expect((await ana.response).status).toBe(429)
  expect(await isReadOn(cleo)).toBe(true)
  for (const body of [ben, cleo]) expect((await body.end(']')).status).toBe(200)
})

it('[OP7] a large import that waits in vain is refused, and one whose client leaves waits no longer', async () => {
  const clock = createScriptedClock()
  const handler = serve(memory(), { clock, limits: { jobsPerOwner: 2 } })
  const first = openLarge(handler, 'ana')
  expect(await isReadOn(first)).toBe(true)
  const second = openLarge(handler, 'ana')
  await settled()
  expect((await send(handler, 'ana', 'ana-1', 1_000)).status).toBe(429)
  // Their own first import does not give way to it.
  await clock.advance(239_999)
  const outcome = Promise.race([second.response, settled().then(() => 'waits')])
  expect(await outcome).toBe('waits')
  await clock.advance(1)
  expect((await second.response).status).toBe(429)

  const client = new AbortController()
  const third = handler(
    toStreamedRequest('/api/import', 'POST', { 'x-owner': 'ana' }, endless(), client.signal),
  )
  await settled()
  client.abort()
  expect((await third).ok).toBe(false)
  expect((await first.end(']')).status).toBe(200)
  expect((await send(handler, 'ana', 'ana-2', large)).status).toBe(200)
})

/** White space, of which there is always more. */
const endless = () =>
  new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(65_536).fill(0x20)),
  })

it('[OP7] an import that arrives two bytes at a time, none of them a whole character, is imported', async () => {
  const handler = serve(memory())
  const content = '🙂'.repeat(40_000)
  const bytes = new TextEncoder().encode(` ${JSON.stringify([{ role: 'user', content }])}`)
  let at = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close()
      else controller.enqueue(bytes.slice(at, (at += 2)))
    },
  })
  const response = await handler(
    toStreamedRequest('/api/import?thread=an-emoji-thread', 'POST', { 'x-owner': 'ana' }, body),
  )
  expect(await response.json()).toMatchObject({ messages: 1, failed: [] })
  const stored = await handler(
    new Request(`http://localhost/api/threads/an-emoji-thread/messages`, {
      headers: { 'x-owner': 'ana' },
    }),
  )
  expect((await stored.text()).includes(content)).toBe(true)
})
