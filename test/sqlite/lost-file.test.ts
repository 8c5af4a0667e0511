import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { startServer } from '../cli/run-holdfast.ts'
import { openStore, temporaryFile } from './temporary-file.ts'

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

  it('[LG3a] is told by its own name, wherever the process goes and whatever points to it', async () => {
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

describe('holdfast serve', () => {
  it('[OP8] notices within seconds that its database was deleted, though nobody asks, and says so loudly', async () => {
    const file = temporaryFile()
    const server = await startServer(['--db', file, '--log', 'json'])
    expect((await fetch(`${server.url}/api/ready`)).status).toBe(200)
    for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`)
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
    expect(existsSync(file)).toBe(false)
  })
})
