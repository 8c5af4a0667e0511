import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type FileStore, s3Files } from 'holdfast/s3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folderFiles } from '../../src/files/folder-files.ts'
import { memoryFiles } from '../../src/files/memory-files.ts'
import { openTestDatabase } from '../postgres/test-database.ts'
import { canListDescriptors, descriptorsIn } from '../support/descriptors-in.ts'
import { keys, region, startS3Server } from './s3-server.ts'

interface OpenedFiles {
  readonly files: FileStore
  /** How many files, statements or responses the store holds open. */
  readonly countOpen: () => Promise<number>
}

const stores: Readonly<Record<string, () => Promise<OpenedFiles>>> = {
  // It has nothing to open.
  memory: async () => ({ files: memoryFiles(), countOpen: async () => 0 }),
  folder: async () => {
    const folder = temporaryFolder()
    const countOpen = async () => (canListDescriptors ? descriptorsIn(folder) : 0)
    return { files: folderFiles(join(folder, 'made', 'later')), countOpen }
  },
  postgres: async () => {
    const database = await openTestDatabase()
    const files = database.open().defaultFileStore?.()
    if (files === undefined) throw new Error('PostgreSQL keeps files.')
    const beside = await database.connect()
    const countOpen = async () => (await beside.query(busyConnections)).rows.length
    return { files, countOpen }
  },
  s3: async () => {
    const server = await startS3Server('chat')
    const { endpoint } = server
    const files = s3Files({ endpoint, bucket: 'chat', region, ...keys, prefix: 'files/' })
    return { files, countOpen: async () => server.openResponses }
  },
}

/** Those that a store has not given back to its pool. */
const busyConnections = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
  AND application_name = 'holdfast' AND state <> 'idle'`

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
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
    const { files } = await open()
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
    const { files } = await open()
    await files.write(id, pieces(Buffer.alloc(0)), about)
    expect(await readAll(await files.read(id))).toEqual(Buffer.alloc(0))
  })

  it('[FL1] whose source fails are reported as failed', async () => {
    const { files } = await open()
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield randomBytes(100_000)
      throw new Error('the line is dead')
    }
    await expect(files.write(id, broken(), about)).rejects.toThrow('the line is dead')
    await files.remove(id)
    expect(await files.read(id)).toBeNull()
  })

  it('[FL1] [OP7] a read that is never pulled, or is left half way, leaves nothing open', async () => {
    const { files, countOpen } = await open()
    // More than the buffers of a connection take: what is not read is not sent.
    const bytes = randomBytes(12_000_000)
    await files.write(id, pieces(bytes, 1_000_003), about)
    const ways = [undefined, { start: 5, end: 11_999_990 }].flatMap((range) =>
      [0, 1, 3].map((pulls) => ({ range, pulls })),
    )
    for (const { range, pulls } of ways) {
      const iterator = (await files.read(id, range))?.[Symbol.asyncIterator]()
      for (let pull = 0; pull < pulls; pull++) await iterator?.next()
      await iterator?.return?.()
      // It is over, not begun anew.
      expect((await iterator?.next())?.done).toBe(true)
      await expect.poll(countOpen, { message: JSON.stringify({ range, pulls }) }).toBe(0)
    }
  })

  it('[FL1] [OP7] a write whose source fails leaves nothing open', async () => {
    const { files, countOpen } = await open()
    let isReleased = false
    async function* broken(): AsyncGenerator<Uint8Array> {
      try {
        yield randomBytes(9_000_000)
        throw new Error('the line is dead')
      } finally {
        isReleased = true
      }
    }
    await expect(files.write(id, broken(), about)).rejects.toThrow('dead')
    await expect.poll(countOpen).toBe(0)
    expect(isReleased).toBe(true)
  })
})

describe('a folder', () => {
  const open = async () => {
    const folder = temporaryFolder()
    const files = folderFiles(folder)
    await files.write(id, pieces(randomBytes(600_001)), about)
    return { folder, files }
  }

  it.runIf(canListDescriptors)(
    '[FL1] [OP7] opens a file with the first piece, and has closed it when the read is over',
    async () => {
      const { folder, files } = await open()
      const dropped = await Promise.all(Array.from({ length: 50 }, async () => files.read(id)))
      expect([dropped.length, descriptorsIn(folder)]).toEqual([50, 0])
      const iterator = dropped[0]?.[Symbol.asyncIterator]()
      await iterator?.next()
      expect(descriptorsIn(folder)).toBe(1)
      await iterator?.return?.()
      expect(descriptorsIn(folder)).toBe(0)
      expect((await readAll(dropped[1] ?? null))?.byteLength).toBe(600_001)
      expect(descriptorsIn(folder)).toBe(0)
    },
  )

  it('[FL1] lets go of the source of a file that it cannot write', async () => {
    const { folder } = await open()
    const blocked = join(folder, 'blocked')
    writeFileSync(blocked, 'no folder')
    let isReleased = false
    const source: AsyncIterableIterator<Uint8Array> = {
      next: async () => ({ done: false, value: randomBytes(1_000) }),
      return: async () => {
        isReleased = true
        return { done: true, value: undefined }
      },
      [Symbol.asyncIterator]: () => source,
    }
    await expect(folderFiles(blocked).write(id, source, about)).rejects.toMatchObject({
      code: 'store-read-only',
      isTemporary: true,
      cause: { code: 'ENOTDIR' },
    })
    expect(isReleased).toBe(true)
  })

  it('[FL1] says that its disk is full, and leaves nothing of the file', async () => {
    const { folder } = await open()
    const part = join(folder, 'full', id.slice(5, 7), `${id}.part`)
    mkdirSync(dirname(part), { recursive: true })
    symlinkSync('/dev/full', part)
    const onFullDisk = folderFiles(join(folder, 'full'))
    await expect(onFullDisk.write(id, pieces(randomBytes(1_000)), about)).rejects.toMatchObject({
      code: 'store-full',
      isTemporary: true,
    })
    expect(await onFullDisk.read(id)).toBeNull()
  })

  it('[FL1] a file that goes before it is opened fails its reader, and nobody else', async () => {
    const { files } = await open()
    const [read, unread] = [await files.read(id), await files.read(id)]
    await files.remove(id)
    await expect(readAll(read)).rejects.toMatchObject({ code: 'ENOENT' })
    // An error that nobody waits for would have ended the process, and fails the run of the tests.
    expect(unread).not.toBeNull()
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

  it.each(['without ranges', 'stalled'] as const)(
    '[FL1] [OP7] a file that is sent %s is let go at once, whenever its reader leaves',
    async (how) => {
      const { server, files } = await open()
      await files.write(id, pieces(randomBytes(12_000_000), 1_000_003), about)
      server.sendFiles(how)
      for (const pulls of [0, 1, 2]) {
        const read = await files.read(id, { start: 0, end: 11_000_000 })
        const iterator = read?.[Symbol.asyncIterator]()
        const pulled = Array.from({ length: pulls }, async () => iterator?.next())
        await pulled[0]
        // What the reader waits for may never come.
        await iterator?.return?.()
        await expect.poll(() => server.openResponses, { message: `${pulls} pulls` }).toBe(0)
        await Promise.allSettled(pulled)
      }
    },
  )

  it('[FL1] lets go of the source of a file that the service refuses', async () => {
    const { server, files } = await open()
    let isReleased = false
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) yield randomBytes(1_000_000)
      } finally {
        isReleased = true
      }
    }
    server.failNext('PUT', 403)
    await expect(files.write(id, endless(), about)).rejects.toThrow('answered 403 to PUT')
    expect(isReleased).toBe(true)
  })

  it('[OP7] holds of an upload what has arrived, not room for a whole part', async () => {
    const { files } = await open()
    const stalled = Promise.withResolvers<void>()
    let waiting = 0
    async function* small(): AsyncGenerator<Uint8Array> {
      yield randomBytes(10_000)
      waiting++
      await stalled.promise
    }
    const before = process.memoryUsage().arrayBuffers
    const ids = Array.from({ length: 50 }, (_, nth) => `file_${`${nth}`.padStart(32, '0')}`)
    const writes = Promise.all(ids.map(async (each) => files.write(each, small(), about)))
    await expect.poll(() => waiting).toBe(50)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20_000_000)
    stalled.resolve()
    await writes
    expect((await readAll(await files.read(ids[49] ?? '')))?.byteLength).toBe(10_000)
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
