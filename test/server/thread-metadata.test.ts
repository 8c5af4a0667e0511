import type { HandlerOptions } from 'holdfast/server'
import { expect, it } from 'vitest'
import { startChatServer } from './chat-server.ts'

async function open(threadMetadata?: HandlerOptions['threadMetadata']) {
  const handler = threadMetadata === undefined ? {} : { threadMetadata }
  const { url, holdfast } = await startChatServer(() => [{ text: 'Hello.' }], { handler })
  await holdfast.threads.create({ id: 't1', ownerId: 'local', metadata: { plan: 'gold' } })
  const sendRequest = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/threads${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const answered: unknown = await response.json()
    return [response.status, answered] as const
  }
  return { holdfast, sendRequest }
}

it.each([undefined, 'hidden'] as const)(
  '[OP5b] people neither see nor set metadata (%s)',
  async (mode) => {
    const { holdfast, sendRequest } = await open(mode)
    const [, thread] = await sendRequest('GET', '/t1')
    expect(thread).not.toHaveProperty('metadata')
    const [, list] = await sendRequest('GET', '')
    expect(JSON.stringify(list)).not.toContain('gold')
    expect(await sendRequest('PATCH', '/t1', { title: 'New', metadata: {} })).toMatchObject([
      403,
      { error: { code: 'forbidden' } },
    ])
    expect((await sendRequest('POST', '', { id: 't2', metadata: {} }))[0]).toBe(403)
    expect(await holdfast.threads.get('t1')).toMatchObject({
      title: '',
      metadata: { plan: 'gold' },
    })
    expect(await holdfast.threads.get('t2')).toBeNull()
  },
)

it('[OP5b] people see it where the handler says so, and set it where it says that', async () => {
  const reading = await open('read')
  expect(await reading.sendRequest('GET', '/t1')).toMatchObject([
    200,
    { metadata: { plan: 'gold' } },
  ])
  expect((await reading.sendRequest('PATCH', '/t1', { metadata: {} }))[0]).toBe(403)

  const { holdfast, sendRequest } = await open('write')
  const changed = await sendRequest('PATCH', '/t1', { metadata: { pinned: true } })
  expect(changed).toMatchObject([200, { title: '', metadata: { pinned: true } }])
  expect(await sendRequest('PATCH', '/t1', { title: 'New' })).toMatchObject([
    200,
    { title: 'New', metadata: { pinned: true } },
  ])
  const made = await sendRequest('POST', '', { id: 't2', metadata: { a: 1 } })
  expect(made).toMatchObject([201, { metadata: { a: 1 } }])
  for (const metadata of [null, [], 'x', 7, { big: 'x'.repeat(20_000) }]) {
    const refused = await sendRequest('PATCH', '/t1', { title: 'Other', metadata })
    expect(refused).toMatchObject([400, { error: { code: 'bad-request' } }])
  }
  expect((await sendRequest('PATCH', '/t1', {}))[0]).toBe(400)
  expect(await holdfast.threads.get('t1')).toMatchObject({
    title: 'New',
    metadata: { pinned: true },
  })
})

it('[OP7a HT4] a refusal for now says when to ask again, also to a page of another origin', async () => {
  const origin = 'https://app.example'
  const limits = { followersPerOwner: 1, runsPerOwner: 1 }
  const { url, holdfast } = await startChatServer(() => [{ text: 'Hello.' }], {
    handler: { limits, allowedOrigins: [origin] },
  })
  await holdfast.threads.create({ id: 't1', ownerId: 'local' })
  const stop = new AbortController()
  const follow = () =>
    fetch(`${url}/api/threads/t1/events`, { headers: { origin }, signal: stop.signal })
  const first = await follow()
  const second = await follow()
  expect(second.status).toBe(429)
  expect(second.headers.get('retry-after')).toBe('5')
  expect(second.headers.get('access-control-expose-headers')).toContain('retry-after')
  stop.abort()
  await first.body?.cancel().catch(() => undefined)
  await holdfast.close()
  await holdfast.store.close()
  const away = await fetch(`${url}/api/threads`, { headers: { origin } })
  expect(away.status).toBe(503)
  expect(away.headers.get('retry-after')).toBe('1')
  expect(away.headers.get('access-control-expose-headers')).toContain('retry-after')
})
