import { connect } from 'node:net'
import { createHoldfast, memory } from 'holdfast'
import { createHandler, listen } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

async function start(limits: Parameters<typeof createHandler>[1] & object) {
  const holdfast = createHoldfast({
    store: memory(),
    model: scriptedModel(() => [{ text: 'Hello.' }]),
    recoverEveryMs: 0,
  })
  const handler = createHandler(holdfast, {
    authenticate: (request) => ({ id: request.headers.get('x-owner') ?? 'ann' }),
    ...limits,
  })
  const server = await listen(handler, { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    await server.close()
    await holdfast.close()
  })
  return { holdfast, url: server.url }
}

/** A request whose body never comes to its end. */
async function beginUpload(url: string, path: string, type: string, owner: string) {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `x-owner: ${owner}`,
    `content-type: ${type}`,
    'content-length: 1000',
    '',
    'x',
  ]
  socket.write(head.join('\r\n'))
  return {
    leave: () => void socket.destroy(),
    /** The status of an answer, once there is one. */
    status: new Promise<number>((resolve) => {
      socket.on('data', (data) => resolve(Number(/HTTP\/1\.1 (\d+)/.exec(String(data))?.[1])))
    }),
  }
}

const upload = (url: string, owner: string) =>
  fetch(`${url}/api/files`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'x-owner': owner },
    body: 'words',
  })

describe('one person who takes all they can', () => {
  it('[OP7b FL1] has so many uploads that never end; another is refused, and others are not', async () => {
    const { url } = await start({ limits: { transfersPerOwner: 3 } })
    const open = await Promise.all(
      Array.from({ length: 3 }, () => beginUpload(url, '/api/files', 'text/plain', 'eve')),
    )
    await expect.poll(async () => (await upload(url, 'eve')).status).toBe(429)
    expect((await upload(url, 'ann')).status).toBe(201)
    for (const { leave } of open) leave()
    await expect.poll(async () => (await upload(url, 'eve')).status).toBe(201)
  })

  it('[OP7b FL1] has so many downloads that they do not read, and gets their places back', async () => {
    const { url } = await start({ limits: { transfersPerOwner: 2 } })
    const { id } = (await (await upload(url, 'eve')).json()) as { readonly id: string }
    const fetchFile = () =>
      fetch(`${url}/api/files/${id}`, { headers: { 'x-owner': 'eve', range: 'bytes=0-0' } })
    for (let time = 0; time < 20; time++) expect(await (await fetchFile()).text()).toBe('w')
    const missing = await fetch(`${url}/api/files/file_${'0'.repeat(32)}`, {
      headers: { 'x-owner': 'eve' },
    })
    expect(missing.status).toBe(404)
    expect((await fetchFile()).status).toBe(206)
  })

  it('[OP7b] has so many imports at once, whose bodies are held; another is refused before it is read', async () => {
    const { url } = await start({ limits: { jobsPerOwner: 2 } })
    const begin = () => beginUpload(url, '/api/import', 'application/json', 'eve')
    const open = [await begin(), await begin()]
    const importOne = async (owner: string) => {
      const response = await fetch(`${url}/api/import`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-owner': owner },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello.' }] }),
      })
      return response.status
    }
    await expect.poll(() => importOne('eve')).toBe(429)
    expect(await importOne('ann')).toBe(200)
    const third = await begin()
    expect(await third.status).toBe(429)
    for (const { leave } of open) leave()
    await expect.poll(() => importOne('eve')).toBe(200)
  })

  it('[OP7b VR4] has so many forks at once', async () => {
    const { url, holdfast } = await start({ limits: { jobsPerOwner: 1 } })
    const threadId = 'a-thread-of-eve-to-copy'
    await holdfast.post(
      threadId,
      { role: 'user', parts: [{ type: 'text', text: 'Hello.' }] },
      { create: { ownerId: 'eve' } },
    )
    const fork = async () => {
      const response = await fetch(`${url}/api/threads/${threadId}/fork`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-owner': 'eve' },
        body: '{}',
      })
      return response.status
    }
    for (let time = 0; time < 5; time++) expect(await fork()).toBe(201)
    const open = await beginUpload(url, '/api/import', 'application/json', 'eve')
    await expect.poll(fork).toBe(429)
    open.leave()
  })
})
