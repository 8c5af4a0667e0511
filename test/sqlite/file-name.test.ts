import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { temporaryFile } from './temporary-file.ts'

function faultOf(file: unknown): string {
  try {
    sqlite(file as string)
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    throw error
  }
  return 'none'
}

const about = { mediaType: 'text/plain' } as const

/** Each test runs in a folder of its own, which is where a name that is relative leads. */
function enterFolder(): string {
  const folder = dirname(temporaryFile())
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  process.chdir(folder)
  return folder
}

/** An address names a file as `file:` URLs do. */
const names: Readonly<Record<string, (file: string) => string>> = {
  'file:my%20chat.db': () => 'file:my%20chat.db',
  'file:./my chat.db': () => 'file:./my chat.db',
  'file: and its path': (file) => `file:${file}`,
  'file:// and its path': (file) => pathToFileURL(file).href,
}

describe('the name of a file', () => {
  it.each(Object.entries(names))(
    '[FL1] %s means the file, and the folder beside it',
    async (_, nameOf) => {
      const folder = enterFolder()
      const file = join(folder, 'my chat.db')
      const store = sqlite(nameOf(file))
      onTestFinished(() => store.close())
      const id = parseThreadId('thread')
      await store.createThread({ id, ownerId: parseOwnerId('ana'), title: '', at: 1 })
      const files = store.defaultFileStore?.()
      await files?.write(`file_${'1'.repeat(32)}`, new Blob(['x']).stream(), about)
      expect(readdirSync(folder).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual([
        'my chat.db',
        'my chat.db-files',
      ])
    },
  )

  it.each([
    [
      'postgres://ana:Sesame@db/chat',
      'sqlite takes the name of a file, not a postgres:// address. For PostgreSQL: postgres(url), from holdfast/postgres.',
    ],
    [
      'postgresql://ana:Sesame@db/chat',
      'sqlite takes the name of a file, not a postgresql:// address. For PostgreSQL: postgres(url), from holdfast/postgres.',
    ],
    ['mysql://ana:Sesame@db/chat', 'sqlite takes the name of a file, not a mysql:// address.'],
    ['libsql://chat.turso.io', 'sqlite takes the name of a file, not a libsql:// address.'],
    [
      'file:chat.db?nolock=1',
      'sqlite takes the name of a file, without parameters: a "?" or "#" that belongs to the name is written without "file:".',
    ],
    [
      'file:chat.db#1',
      'sqlite takes the name of a file, without parameters: a "?" or "#" that belongs to the name is written without "file:".',
    ],
    ['file::memory:', 'sqlite: a database in memory is ":memory:".'],
    ['file:', 'sqlite takes the name of a file, and "file:" names none.'],
    [
      'file://other-machine/chat.db',
      'sqlite takes the name of a file, and "file://other-machine/chat.db" names none.',
    ],
    ['file:%E0%A4', 'sqlite takes the name of a file, and "file:%E0%A4" names none.'],
    ['', 'sqlite takes the name of a file, not "".'],
    [undefined, 'sqlite takes the name of a file, not undefined.'],
    [new URL('file:///tmp/x'), 'sqlite takes the name of a file, not an object.'],
  ])('[CF1] is not %s', (file, told) => {
    enterFolder()
    expect(faultOf(file)).toBe(`bad-option: ${told}`)
  })
})
