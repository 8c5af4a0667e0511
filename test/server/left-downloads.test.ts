import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FileStore, folderFiles, memory } from 'holdfast'
import { createHandler, toNodeListener } from 'holdfast/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { canListDescriptors, descriptorsIn } from '../support/descriptors-in.ts'
import { startChatServer } from './chat-server.ts'

/** More than the buffers of a connection take: who stops to read is left with a half. */
const content = randomBytes(8_000_000)

async function startWithFile(wrap = (files: FileStore) => files) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-left-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const limits = { transfersPerOwner: 20 }
  const server = await startChatServer(() => [{ text: 'Seen.' }], {
    store: memory(),
    files: { store: wrap(folderFiles(folder)), accept: ['*/*'] },
    handler: { limits },
  })
  const { holdfast } = server
  const file = await holdfast.files.add({ ownerId: 'local', content })
  const part = { type: 'file' as const, mediaType: file.mediaType, url: file.url }
  const message = { role: 'user' as const, parts: [part] }
  await holdfast.post('t', message, { create: { ownerId: 'local' } })
  const shared = await holdfast.shares.create('t')
  if (shared.kind !== 'shared') throw new Error(shared.kind)
  return {
    ...{ folder, holdfast, url: server.url },
    paths: [file.url, `/api/shares/${shared.share.id}/files/${file.id}`],
  }
}

/** Sends a request, and resets the connection once so many bytes of the response are there. */
async function cutOff(url: string, path: string, bytes: number): Promise<void> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  await new Promise<void>((resolve) => {
    let received = 0
    const onBytes = (arrived: number) => {
      received += arrived
      if (received >= bytes) socket.resetAndDestroy()
    }
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.on('data', (piece: Buffer) => onBytes(piece.byteLength))
    socket.write(`GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n\r\n`, () => onBytes(0))
  })
}

describe.runIf(canListDescriptors)('the descriptors of a server', () => {
  it('[FL1] [OP7] are not used up by those who ask for the head of a file', async () => {
    const { folder, url, paths } = await startWithFile()
    for (const path of paths) {
      for (let nth = 0; nth < 300; nth++) {
        const range = nth % 2 === 0 ? {} : { range: 'bytes=10-19' }
        const head = await fetch(url + path, { method: 'HEAD', headers: range })
        expect(head.status).toBe(nth % 2 === 0 ? 200 : 206)
      }
    }
    expect(descriptorsIn(folder)).toBe(0)
  })

  it('[FL1] [OP7] are free again, as are the slots, when readers have gone before the end', async () => {
    const { folder, url, paths } = await startWithFile()
    for (const path of paths) {
      for (let round = 0; round < 12; round++) {
        const bytes = [0, 0, 1, 100_000][round % 4] ?? 0
        await Promise.all(Array.from({ length: 15 }, async () => cutOff(url, path, bytes)))
        await expect.poll(() => descriptorsIn(folder)).toBe(0)
      }
      const whole = await Promise.all(
        Array.from({ length: 20 }, async () => (await fetch(url + path)).arrayBuffer()),
      )
      expect(whole.every((body) => content.equals(new Uint8Array(body)))).toBe(true)
    }
    await expect.poll(() => descriptorsIn(folder)).toBe(0)
  })
})

it('[OP7] a response that the host has answered in its place gives its slot back', async () => {
  const { holdfast, paths } = await startWithFile()
  const handler = createHandler(holdfast, { limits: { transfersPerOwner: 1 } })
  const listener = toNodeListener(handler)
  const server = createServer((incoming, outgoing) => {
    listener(incoming, outgoing)
    // As a middleware does that bounds the time of a request.
    if (incoming.headers['x-late'] !== undefined) outgoing.writeHead(503).end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const path of paths) {
    expect((await fetch(url + path, { headers: { 'x-late': '1' } })).status).toBe(503)
    await expect.poll(async () => (await fetch(url + path, { method: 'HEAD' })).status).toBe(200)
  }
})

it('[FL1] the head of a file is returned although its store cannot close what it began', async () => {
  const { url, paths } = await startWithFile((files) => ({
    ...files,
    async read() {
      const read: AsyncIterableIterator<Uint8Array> = {
        next: async () => ({ done: false, value: content }),
        return: () => Promise.reject(new Error('The disk is gone.')),
        [Symbol.asyncIterator]: () => read,
      }
      return read
    },
  }))
  for (const path of paths) {
    const head = await fetch(url + path, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '8000000'])
  }
})
