import type { UIMessage } from 'ai'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { createDatabase, type TestDatabase } from '../support/create-database.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { openTab } from './chat-tab.ts'
import { readPage, reload } from './thread-page.ts'

const newThread = () => `thread-${crypto.randomUUID()}`
const shows = (word: string) => (messages: readonly UIMessage[]) =>
  JSON.stringify(messages).includes(word)

describe('several servers on one PostgreSQL', () => {
  let database: TestDatabase
  let servers: ServerProcess[]

  beforeAll(async () => {
    database = await createDatabase(inject('postgresUrl'))
    const start = () => startServerProcess({ db: database.url })
    // One after the other, so that only the first has to make the tables.
    servers = [await start()]
    servers.push(...(await Promise.all([start(), start()])))
  })
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()))
    await database.drop()
  })
  const urls = () => servers.map(({ url }) => url) as [string, string, string]

  it('[RS7] stream on one, resume on another, stop from a third', async () => {
    const [one, two, three] = urls()
    const threadId = newThread()
    const tab = openTab({ url: one, threadId, client: 7 })
    const sent = tab.chat.sendMessage({ text: 'slow tool 60' })
    await tab.until(shows('"preliminary":true'))
    const other = await reload({ url: two, threadId, client: 7 })
    await other.tab.until(shows('"preliminary":true'))
    const stopped = await fetch(`${three}/api/chat/${threadId}/stop`, { method: 'POST' })
    expect(await stopped.json()).toEqual({ status: 'stopped' })
    await Promise.all([sent, other.resumed])
    const page = await readPage({ url: three, threadId, sdk: 7 })
    expect(shows('output-error')(page)).toBe(true)
    expect(tab.messages()).toEqual(page)
    expect(other.tab.messages()).toEqual(page)
    await other.tab.chat.sendMessage({ text: 'hello' })
    expect(other.tab.messages()).toEqual(await readPage({ url: one, threadId, sdk: 7 }))
  })

  it('[RS7 RS5] refuses a second message on another server', async () => {
    const [one, two] = urls()
    const threadId = newThread()
    const tab = openTab({ url: one, threadId, client: 7 })
    const sent = tab.chat.sendMessage({ text: 'slow tool 60' })
    await tab.until(shows('"preliminary":true'))
    const other = openTab({ url: two, threadId, client: 7 })
    await other.chat.sendMessage({ text: 'hello' }, { body: { whenBusy: 'reject' } })
    expect(other.chat.error?.message).toContain('run-active')
    await fetch(`${two}/api/chat/${threadId}/stop`, { method: 'POST' })
    await sent
    expect(await readPage({ url: two, threadId })).toHaveLength(2)
  })

  it('[RS7 AP2] decides on another server, once', async () => {
    const [one, two, three] = urls()
    const threadId = newThread()
    const tab = openTab({ url: one, threadId, client: 7 })
    await tab.chat.sendMessage({ text: `delete note ${threadId}` })
    const part = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-delete_note')
    const { toolCallId } = part as unknown as { readonly toolCallId: string }
    const decide = (url: string, decision: string) =>
      fetch(`${url}/api/threads/${threadId}/tool-calls/${toolCallId}/decision`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ decision }),
      })
    const answers = await Promise.all([decide(two, 'accept'), decide(three, 'reject')])
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    const again = await reload({ url: one, threadId, client: 7 })
    await again.resumed
    await again.tab.idle()
    expect(again.tab.messages()).toEqual(await readPage({ url: two, threadId, sdk: 7 }))
  })
})

describe('a server that is asked to stop', () => {
  it('[CR5 RS7] breaks its streams, and another carries its turns on; nothing is lost', async () => {
    const database = await createDatabase(inject('postgresUrl'))
    const db = database.url
    // Slow enough that a test that stands still for some seconds still ends it in the middle.
    const going = await startServerProcess({ db, env: { DELAY_MS: '100' } })
    const staying = await startServerProcess({ db })
    try {
      const threadId = newThread()
      const tab = openTab({ url: going.url, threadId, client: 7 })
      const sent = tab.chat.sendMessage({ text: 'write a long answer' })
      await tab.until((messages) => messages.length === 2 && textOf(messages).length > 8)
      expect(await going.stop()).toBe(0)
      await sent
      expect(tab.chat.status).toBe('error')
      const again = await reload({ url: staying.url, threadId, client: 7 })
      const shown = textOf(tab.messages())
      await again.resumed
      const page = await readPage({ url: staying.url, threadId, sdk: 7 })
      expect(again.tab.messages()).toEqual(page)
      expect(page).toHaveLength(2)
      expect(page[1]?.id).toBe(tab.messages()[1]?.id)
      expect(textOf(page).startsWith(shown)).toBe(true)
      await staying.log(({ type }) => type === 'turn-started')
    } finally {
      await Promise.all([going.stop('SIGKILL'), staying.stop()])
      await database.drop()
    }
  })
})

/** Every piece of the answer's text that is shown, in order. */
const textOf = (messages: readonly UIMessage[]): string =>
  (messages.at(-1)?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
