import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHoldfast, type FileStore, folderFiles, type HoldfastOptions, memory } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryFiles } from '../../src/files/memory-files.ts'

type FileOptions = NonNullable<HoldfastOptions['files']>

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-files-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function writeTemporary(bytes: number): string {
  const path = join(temporaryFolder(), 'source')
  writeFileSync(path, Buffer.alloc(bytes))
  return path
}

const failing = (write: FileStore['write']): FileStore => ({ ...memoryFiles(), write })
const diskFull = new Error('The disk is full.')

/** A folder whose name is taken by a file. */
const folderInFile = (): FileStore => folderFiles(join(writeTemporary(1), 'folder'))

interface Failure {
  readonly name: string
  readonly message: string
  readonly toFiles: () => FileOptions
}

const failures: readonly Failure[] = [
  {
    name: 'its type is refused',
    message: 'are not accepted',
    toFiles: () => ({ store: memoryFiles(), accept: ['image/png'] }),
  },
  {
    name: 'it is too large',
    message: 'larger than',
    toFiles: () => ({ store: memoryFiles(), maxBytes: 100_000 }),
  },
  {
    name: 'it is too large behind its head',
    message: 'larger than',
    toFiles: () => ({ store: memoryFiles(), maxBytes: 2_500_000 }),
  },
  {
    name: 'it exceeds what its owner may have',
    message: 'exceed your limit',
    toFiles: () => ({ store: memoryFiles(), maxBytesPerOwner: 1_000 }),
  },
  {
    name: 'the folder cannot be made',
    message: 'The folder of the files cannot be written to.',
    toFiles: () => ({ store: folderInFile() }),
  },
  {
    name: 'the store fails before it reads',
    message: diskFull.message,
    toFiles: () => ({ store: failing(() => Promise.reject(diskFull)) }),
  },
  {
    name: 'the store fails at the first piece',
    message: diskFull.message,
    toFiles: () => ({
      store: failing(async (_, content) => {
        for await (const _piece of content) throw diskFull
      }),
    }),
  },
  {
    name: 'the store asks for a piece and does not wait for it',
    message: diskFull.message,
    toFiles: () => ({
      store: failing(async (_, content) => {
        void content[Symbol.asyncIterator]().next()
        throw diskFull
      }),
    }),
  },
]

describe('the source of an upload is closed', () => {
  it.each(failures)('[FL1] where $name', async ({ message, toFiles }) => {
    const files = { accept: ['*/*'], ...toFiles() }
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, files })
    onTestFinished(() => holdfast.close())
    const content = createReadStream(writeTemporary(3_000_000))
    await expect(holdfast.files.add({ ownerId: 'ana', content })).rejects.toThrow(message)
    await expect.poll(() => content.closed).toBe(true)
  })

  it('[FL1] and is not waited for: one that hangs does not hold the refusal up', async () => {
    const files = { accept: ['*/*'], store: failing((_, content) => readAndFail(content)) }
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, files })
    onTestFinished(() => holdfast.close())
    async function* hanging(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(131_072)
      await new Promise<never>(() => {})
    }
    const added = holdfast.files.add({ ownerId: 'ana', content: hanging() })
    await expect(added).rejects.toThrow(diskFull.message)
  })
})

/** Has all of the head, and has asked for a piece behind it. */
async function readAndFail(content: AsyncIterable<Uint8Array>): Promise<void> {
  const source = content[Symbol.asyncIterator]()
  await source.next()
  void source.next()
  throw diskFull
}
