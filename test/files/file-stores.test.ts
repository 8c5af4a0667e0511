import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { postgres } from 'holdfast/postgres'
import { type FileStore, s3Files } from 'holdfast/s3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderFiles } from '../../src/files/folder-files.ts'
import { memoryFiles } from '../../src/files/memory-files.ts'
import { createTestDatabase } from '../postgres/test-database.ts'
import { keys, region, startS3Server } from './s3-server.ts'

const stores: Readonly<Record<string, () => Promise<FileStore>>> = {
  memory: async () => memoryFiles(),
  folder: async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-files-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    return folderFiles(join(folder, 'made', 'later'))
  },
  postgres: async () => {
    const store = postgres(await createTestDatabase())
    onTestFinished(() => store.close())
    const files = store.defaultFileStore?.()
    if (files === undefined) throw new Error('PostgreSQL keeps files.')
    return files
  },
  s3: async () => {
    const { endpoint } = await startS3Server('chat')
    return s3Files({ endpoint, bucket: 'chat', region, ...keys, prefix: 'files/' })
  },
}

const id = `file_${'0a'.repeat(16)}`
const about = { mediaType: 'text/plain' }

/** In pieces of sizes that fit nothing. */
async function* pieces(bytes: Buffer, size = 77_777): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function readAll(found: AsyncIterable<Uint8Array> | null): Promise<Buffer | null> {
  if (found === null) return null
  const read: Uint8Array[] = []
  for await (const piece of found) read.push(piece)
  return Buffer.concat(read)
}

describe.each(Object.entries(stores))('files in %s', (_, open) => {
  it('[FL1] come back as they went in, whole and in ranges, and are gone when removed', async () => {
    const files = await open()
    expect(await files.read(id)).toBeNull()
    const bytes = randomBytes(600_001)
    await files.write(id, pieces(bytes), about)
    expect((await readAll(await files.read(id)))?.equals(bytes)).toBe(true)
    for (const [start, end] of [
      [0, 0],
      [262_143, 262_144],
      [300_000, 599_999],
      [600_000, 600_000],
    ] as const) {
      const part = await readAll(await files.read(id, { start, end }))
      expect(part?.equals(bytes.subarray(start, end + 1))).toBe(true)
    }
    await files.remove(id)
    expect(await files.read(id)).toBeNull()
    await files.remove(id)
  })

  it('[FL1] may be empty', async () => {
    const files = await open()
    await files.write(id, pieces(Buffer.alloc(0)), about)
    expect(await readAll(await files.read(id))).toEqual(Buffer.alloc(0))
  })

  it('[FL1] whose source fails are told as failed', async () => {
    const files = await open()
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(100_000)
      throw new Error('the line is dead')
    }
    await expect(files.write(id, broken(), about)).rejects.toThrow('the line is dead')
    await files.remove(id)
    expect(await files.read(id)).toBeNull()
  })
})

describe('S3', () => {
  const open = async () => {
    const server = await startS3Server('chat')
    const { endpoint } = server
    const files = s3Files({ endpoint, bucket: 'chat', region, ...keys, partBytes: 5_242_880 })
    return { server, files }
  }

  it('[FL1] sends a large file in parts, and gives up what cannot be finished', async () => {
    const { server, files } = await open()
    const bytes = randomBytes(11_000_000)
    await files.write(id, pieces(bytes, 1_000_003), { mediaType: 'video/mp4' })
    const stored = server.objects.get(`/chat/${id}`)
    expect([stored?.body.equals(bytes), stored?.type]).toEqual([true, 'video/mp4'])
    expect(server.requests).toEqual([
      'POST ?uploads',
      ...Array<string>(3).fill('PUT ?partNumber'),
      'POST ?uploadId',
    ])
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(9_000_000)
      throw new Error('the line is dead')
    }
    await expect(files.write(`${id.slice(0, -1)}b`, broken(), about)).rejects.toThrow('dead')
    expect([...server.uploads.keys()]).toEqual([])
    expect([...server.objects.keys()]).toEqual([`/chat/${id}`])
  })

  it('[FL2] gives an address that anybody can fetch', async () => {
    const { files } = await open()
    await files.write(id, pieces(Buffer.from('hello')), about)
    const link = (await files.link?.(id, 60)) ?? ''
    expect(await (await fetch(link)).text()).toBe('hello')
    expect((await fetch(link.replace('X-Amz-Expires=60', 'X-Amz-Expires=90'))).status).toBe(403)
  })

  it('[FL1] says what the service answered, and not its words', async () => {
    const { server, files } = await open()
    server.failNext('PUT', 403)
    await expect(files.write(id, pieces(Buffer.from('x')), about)).rejects.toMatchObject({
      code: 'store-failed',
      message: 'The file store answered 403 to PUT.',
    })
  })

  it('[CF1] checks its options', () => {
    const right = { endpoint: 'https://s3.example', bucket: 'chat', ...keys }
    expect(() => s3Files({ ...right, endpoint: 's3.example' })).toThrow(/"endpoint"/)
    expect(() => s3Files({ ...right, bucket: 'Chat!' })).toThrow(/"bucket"/)
    expect(() => s3Files({ ...right, partBytes: 10 })).toThrow(/"partBytes"/)
  })
})
