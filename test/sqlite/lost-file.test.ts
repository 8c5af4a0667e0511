import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { startServer } from '../cli/run-holdfast.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const threadId = parseThreadId('thread')
const ownerId = parseOwnerId('ana')
const create = (store: ReturnType<typeof sqlite>, id = threadId) =>
  store.createThread({ id, ownerId, title: '', at: 1 })

const other = () => {
  const file = temporaryFile()
  void sqlite(file).close()
  return file
}

const losses: Readonly<Record<string, (file: string) => void>> = {
  'is deleted': (file) => rmSync(file),
  'is deleted with its log': (file) => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
  },
  'is moved away': (file) => renameSync(file, `${file}.old`),
  'is replaced by another': (file) => renameSync(other(), file),
  'is replaced by a copy of itself': (file) => {
    copyFileSync(file, `${file}.copy`)
    renameSync(`${file}.copy`, file)
  },
  'is deleted and made anew': (file) => {
    rmSync(file)
    copyFileSync(other(), file)
  },
  'loses its log': (file) => rmSync(`${file}-wal`),
  'is in a folder that is moved away': (file) => {
    renameSync(dirname(file), `${dirname(file)}.old`)
    onTestFinished(() => rmSync(`${dirname(file)}.old`, { recursive: true }))
    mkdirSync(dirname(file))
  },
}

describe('a file that goes away under the store that has it open', () => {
  it.each(Object.entries(losses))(
    '[LG3a] %s: nothing is written or read any more, and it is said why',
    async (_, lose) => {
      const file = temporaryFile()
      const store = openStore(file)
      await create(store)
      lose(file)
      const lost = { code: 'store-replaced', isTemporary: true }
      await expect(create(store, parseThreadId('next'))).rejects.toMatchObject(lost)
      await expect(store.readThread(threadId)).rejects.toMatchObject(lost)
      await expect(store.findAbandonedRuns(1)).rejects.toThrow(
        `The database ${file} was deleted, moved or replaced while it was open. Nothing is stored until it is put back and this process is started again.`,
      )
    },
  )

  it('[LG3a] stays lost when it comes back: who knows what was written to it meanwhile', async () => {
    const file = temporaryFile()
    const store = openStore(file)
    await create(store)
    renameSync(file, `${file}.old`)
    await expect(create(store)).rejects.toMatchObject({ code: 'store-replaced' })
    renameSync(`${file}.old`, file)
    await expect(store.readThread(threadId)).rejects.toMatchObject({ code: 'store-replaced' })
    expect(await openStore(file).readThread(threadId)).toMatchObject({ id: threadId })
  })

  it('[LG3a] is reported by its own name, wherever the process goes and whatever points to it', async () => {
    const file = temporaryFile()
    const link = join(dirname(file), 'link.db')
    symlinkSync(file, link)
    const before = process.cwd()
    onTestFinished(() => process.chdir(before))
    process.chdir(dirname(file))
    const relative = openStore('link.db')
    const byUri = openStore(`file:${file}`)
    await create(relative)
    process.chdir(before)
    expect(await relative.readThread(threadId)).toMatchObject({ id: threadId })
    expect(await byUri.readThread(threadId)).toMatchObject({ id: threadId })
    rmSync(file)
    await expect(create(relative)).rejects.toMatchObject({ code: 'store-replaced' })
    await expect(create(byUri)).rejects.toMatchObject({ code: 'store-replaced' })
  })

  it('[LG3a] a database in memory has no file to lose', async () => {
    const store = openStore(':memory:')
    await create(store)
    expect(await store.readThread(threadId)).toMatchObject({ id: threadId })
  })
})

/** The next look at the content of the file is due. */
function passTime() {
  const later = performance.now() + 1_000
  const time = vi.spyOn(performance, 'now').mockReturnValue(later)
  onTestFinished(() => time.mockRestore())
}

const foreign = () => {
  const file = temporaryFile()
  const db = openRaw(file)
  db.exec('PRAGMA application_id = 7; CREATE TABLE others (id)')
  db.close()
  return file
}

const overwritings: Readonly<Record<string, (file: string) => void>> = {
  'is truncated': (file) => truncateSync(file),
  'is overwritten by other bytes': (file) => writeFileSync(file, 'No database. '.repeat(10_000)),
  'begins with other bytes': (file) => writeFileSync(file, 'No database.', { flag: 'r+' }),
  'is overwritten by the database of another program': (file) => copyFileSync(foreign(), file),
  'loses the index of its log': (file) => rmSync(`${file}-shm`),
  'has a log that is overwritten': (file) => writeFileSync(`${file}-wal`, 'No log. '.repeat(9_999)),
}

describe('a file that is overwritten in place under the store that has it open', () => {
  it.each(Object.entries(overwritings))(
    '[LG3a OP8] %s: it is noticed soon, by who reads alone too',
    async (_, overwrite) => {
      const file = temporaryFile()
      const store = openStore(file)
      await create(store)
      overwrite(file)
      passTime()
      const lost = { code: 'store-replaced', isTemporary: true }
      await expect(store.readThread(threadId)).rejects.toMatchObject(lost)
      await expect(create(store, parseThreadId('next'))).rejects.toMatchObject(lost)
    },
  )

  it('[LG3a OP8] has a log that is truncated: it is noticed when more is written', async () => {
    const file = temporaryFile()
    const store = openStore(file)
    await create(store)
    truncateSync(`${file}-wal`)
    await create(store, parseThreadId('next'))
    passTime()
    await expect(store.readThread(threadId)).rejects.toMatchObject({ code: 'store-replaced' })
  })

  it('[LG3a] a log that a checkpoint has truncated is no loss, nor a file that has shrunk', async () => {
    const file = temporaryFile()
    const store = openStore(file)
    for (let index = 0; index < 100; index++) {
      const id = parseThreadId(`thread-${index}`)
      await store.createThread({ id, ownerId, title: 'x'.repeat(4_000), at: 1 })
    }
    for (let index = 0; index < 100; index++) {
      await store.deleteThread(parseThreadId(`thread-${index}`))
    }
    await create(store)
    const before = statSync(file).size
    openRaw(file).exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)')
    expect([statSync(`${file}-wal`).size, statSync(file).size < before]).toEqual([0, true])
    passTime()
    expect(await store.readThread(threadId)).toMatchObject({ id: threadId })
  })

  it('[LG3a] a database that has its beginning in the log alone is no loss', async () => {
    const file = temporaryFile()
    const empty = openRaw(file)
    empty.exec('PRAGMA journal_mode = WAL')
    const store = openStore(file)
    await create(store)
    expect(readFileSync(file).readUInt32BE(68)).toBe(0)
    passTime()
    expect(await store.readThread(threadId)).toMatchObject({ id: threadId })
  })

  it.skipIf(process.platform !== 'linux')(
    '[LG3a] looking at it drops no lock: SQLite would delete the log under the store',
    async () => {
      const file = temporaryFile()
      const store = openStore(file)
      await create(store)
      const held = ` ${process.pid} .*:${statSync(file).ino} `
      const hasLock = () => new RegExp(held).test(readFileSync('/proc/locks', 'utf8'))
      expect(hasLock()).toBe(true)
      passTime()
      await store.readThread(threadId)
      expect(hasLock()).toBe(true)
    },
  )
})

describe('holdfast serve', () => {
  it.each([
    [
      'deleted',
      (file: string) => {
        for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
      },
    ],
    ['truncated', (file: string) => truncateSync(file)],
  ])(
    '[OP8] notices within seconds that its database was %s, though nobody asks, and says so loudly',
    async (_, lose) => {
      const file = temporaryFile()
      const server = await startServer(['--db', file, '--log', 'json'])
      expect((await fetch(`${server.url}/api/ready`)).status).toBe(200)
      lose(file)
      const since = performance.now()
      const line = await server.until((said) => said.includes('deleted, moved or replaced'))
      expect(performance.now() - since).toBeLessThan(5_000)
      expect(JSON.parse(line)).toMatchObject({ log: 'recovery' })
      const send = { method: 'POST', headers: { 'content-type': 'application/json' } }
      const body = JSON.stringify({
        id: 't',
        messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
      })
      for (const [path, init] of [
        ['/api/ready', {}],
        ['/api/threads', {}],
        ['/api/threads/t', {}],
        ['/api/threads', { ...send, body: '{}' }],
        ['/api/chat', { ...send, body }],
      ] as const) {
        const answer = await fetch(`${server.url}${path}`, init)
        expect([path, answer.status]).toEqual([path, 503])
        expect(await answer.text()).not.toContain(file)
      }
      expect((await fetch(`${server.url}/api/health`)).status).toBe(200)
      expect(existsSync(file) && statSync(file).size > 0).toBe(false)
    },
  )
})
