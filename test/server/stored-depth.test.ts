import { checkStore, exportThread, parseThreadId, type Store } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestDatabase } from '../postgres/test-database.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { type ChatServer, startChatServer } from './chat-server.ts'

interface Opened {
  readonly store: Store
  /** Writes past the store, as a version without bounds would have. */
  readonly write: (sql: string, value: string) => Promise<void>
}

const stores: Readonly<Record<string, () => Promise<Opened>>> = {
  async sqlite() {
    const file = temporaryFile()
    const store = sqlite(file)
    onTestFinished(() => store.close())
    return Promise.resolve({
      store,
      async write(sql, value) {
        const db = new DatabaseSync(file)
        const triggers = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all()
        for (const { name } of triggers) db.exec(`DROP TRIGGER "${String(name)}"`)
        db.prepare(sql.replaceAll('$1', '?1')).run(value)
        db.close()
        return Promise.resolve()
      },
    })
  },
  async postgres() {
    const database = await openTestDatabase()
    const store = database.open()
    return {
      store,
      async write(sql, value) {
        const client = await database.connect()
        await client.query('SET session_replication_role = replica; SET search_path = holdfast')
        await client.query(sql, [value])
      },
    }
  },
}

const levels = (count: number) => `${'['.repeat(count)}1${']'.repeat(count)}`
const sendMessage = async ({ url }: ChatServer, id: string, text: string) => {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id, role: 'user', parts: [{ type: 'text', text }] }],
    }),
  })
  return { status: response.status, body: await response.text() }
}

describe.each(Object.entries(stores))('%s', (_, open) => {
  it.each([5_000, 100_000])(
    '[CL6a LG7] a thread that holds values of %i levels is read, streamed, followed, exported, checked and gone on with',
    async (count) => {
      const { store, write } = await open()
      const server = await startChatServer(
        (text, step) =>
          step > 0 || text === 'bye'
            ? [{ text: 'Fine.' }]
            : [
                {
                  call: text === 'wait' ? 'remove' : 'weather',
                  input: { city: 'Paris', path: 'x' },
                },
              ],
        { store },
      )
      await sendMessage(server, 'u1', 'hi')
      await sendMessage(server, 'u2', 'wait')
      const deep = levels(count)
      await write('UPDATE calls SET output = $1 WHERE output IS NOT NULL', deep)
      await write('UPDATE calls SET input = $1', deep)
      await write(
        `UPDATE messages SET body = '{"parts":[{"type":"text","text":"hi"}],"metadata":' || $1 || '}' WHERE role = 'user'`,
        deep,
      )
      await write(
        `UPDATE messages SET body = replace(body, '"unreadable":0', '"unreadable":0,"metadata":' || $1) WHERE role = 'assistant' AND body IS NOT NULL`,
        deep,
      )
      const { url } = server
      const get = async (path: string) => {
        const response = await fetch(`${url}${path}`)
        return { status: response.status, body: await response.text() }
      }
      for (const format of ['ui', 'vercel', 'entities', 'chat', 'ledger']) {
        for (const results of ['full', 'lazy']) {
          const page = await get(`/api/threads/t/messages?format=${format}&results=${results}`)
          expect([format, results, page.status]).toEqual([format, results, 200])
        }
      }
      const page = JSON.parse((await get('/api/threads/t/messages')).body) as {
        results: { id: string; role: string }[]
      }
      for (const { id, role } of page.results) {
        if (role !== 'assistant') continue
        const calls = await get(`/api/messages/${id}/tool-calls?include=all`)
        expect(calls.status).toBe(200)
        const replay = await get(`/api/chat/t/stream?message=${id}`)
        expect(replay.body).toContain('[DONE]')
        expect((await get(`/api/chat/t/stream?message=${id}&protocol=data-stream`)).status).toBe(
          200,
        )
      }
      const stop = new AbortController()
      const events = await fetch(`${url}/api/threads/t/events?after=0`, { signal: stop.signal })
      expect((await events.body?.getReader().read())?.done).toBe(false)
      stop.abort()
      for (const format of ['ui', 'vercel', 'entities', 'chat'] as const) {
        const rows = await Array.fromAsync(exportThread(store, parseThreadId('t'), format))
        expect(JSON.stringify(rows).length).toBeGreaterThan(count)
      }
      const report = await checkStore(store)
      expect(JSON.stringify(report)).not.toContain('Maximum call stack')
      expect((await sendMessage(server, 'u3', 'bye')).body).toContain('Fine.')
    },
  )
})
