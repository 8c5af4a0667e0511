import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHoldfast, type Store } from 'holdfast'
import { createThreadClient, type ThreadClient } from 'holdfast/client'
import { createHandler } from 'holdfast/server'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'

const thread = 'a-thread-with-a-history'

/** One server after the other on one file, all at one address. */
function openPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-history-'))
  const file = join(folder, 'chat.db')
  let current: { readonly store: Store; readonly close: () => Promise<void> } | undefined
  let handle: ((request: Request) => Promise<Response>) | undefined
  const start = () => {
    const store = sqlite(file)
    const holdfast = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'I heard ' }, { text: 'you.' }]),
      recoverEveryMs: 0,
      textDelayMs: 0,
    })
    handle = createHandler(holdfast, { localOnly: true })
    current = {
      store,
      close: async () => {
        await holdfast.close()
        await store.close()
      },
    }
  }
  const fetchIt = async (path: unknown, init?: RequestInit) =>
    (await handle?.(new Request(`http://127.0.0.1${path as string}`, init))) as Response
  start()
  onTestFinished(async () => {
    await current?.close()
    rmSync(folder, { recursive: true })
  })
  return {
    fetch: fetchIt,
    store: () => current?.store as Store,
    async backUp() {
      await current?.close()
      copyFileSync(file, `${file}.copy`)
      start()
    },
    async restore() {
      await current?.close()
      for (const end of ['', '-wal', '-shm']) rmSync(`${file}${end}`, { force: true })
      copyFileSync(`${file}.copy`, file)
      start()
    },
    async sendMessage(text: string, id = thread) {
      const message = { id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }] }
      const response = await fetchIt('/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ id, messages: [message], trigger: 'submit-message' }),
      })
      await response.text()
    },
    async change(change: object) {
      const response = await fetchIt(`/api/threads/${thread}`, {
        method: 'PATCH',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(change),
      })
      expect(response.status).toBe(200)
    },
    async page(query = '') {
      const response = await fetchIt(`/api/threads/${thread}/messages?${query}`)
      return { status: response.status, ...((await response.json()) as Page) }
    },
    /** How a place is answered; the stream is closed at once. */
    async follow(after: string, header = false) {
      const path = `/api/threads/${thread}/events`
      const response = header
        ? await fetchIt(path, { headers: { 'last-event-id': after } })
        : await fetchIt(`${path}?after=${after}`)
      if (response.status === 200) {
        await response.body?.cancel()
        return 'ok'
      }
      return `${response.status} ${((await response.json()) as Page).error?.code}`
    },
    /** The ids of all frames there are. */
    async ids(): Promise<readonly string[]> {
      const { seq } = await this.page()
      const response = await fetchIt(`/api/threads/${thread}/events?after=0`)
      let text = ''
      for await (const piece of response.body as ReadableStream<Uint8Array>) {
        text += new TextDecoder().decode(piece)
        const ids = [...text.matchAll(/^id: (.+)\n/gm)].map(([, id]) => id as string)
        if (Number.parseInt(ids.at(-1) ?? '0', 10) >= seq) return ids
      }
      throw new Error('The stream ended before the end of the thread.')
    },
  }
}

interface Page {
  readonly results: readonly { readonly id: string }[]
  readonly seq: number
  readonly place: string
  readonly nextCursor: string | null
  readonly error?: { readonly code: string }
}

describe('a thread whose numbers go back', () => {
  it('[OP6] answers a place of a history that was lost by a restore as such, however far it has grown', async () => {
    const place = openPlace()
    await place.sendMessage('one')
    const kept = [...(await place.ids()), (await place.page()).place]
    await place.backUp()
    await place.sendMessage('two')
    await place.sendMessage('three')
    const lost = [
      ...(await place.ids()).filter((id) => !kept.includes(id)),
      (await place.page()).place,
    ]
    const { nextCursor } = await place.page('limit=1')
    await place.restore()
    await place.sendMessage('four')
    expect(lost.length).toBeGreaterThan(2)
    for (const id of lost) expect(await place.follow(id)).toBe('409 other-history')
    for (const text of ['five', 'six', 'seven']) await place.sendMessage(text)
    for (const id of lost) expect(await place.follow(id, true)).toBe('409 other-history')
    for (const id of kept) expect(await place.follow(id)).toBe('ok')
    expect(await place.page(`cursor=${nextCursor}`)).toMatchObject({
      status: 409,
      error: { code: 'other-history' },
    })
    // A bare seq is what it was: taken as it is, and refused beyond the end.
    expect(await place.follow(String(Number.parseInt(lost.at(-1) as string, 10)))).toBe('ok')
    expect(await place.follow('100000')).toBe('400 bad-request')
    expect(await place.follow('7-no place')).toBe('400 bad-request')
  })

  it('[OP6] answers the place of a lost event that is about no message as such', async () => {
    const place = openPlace()
    await place.sendMessage('one')
    await place.backUp()
    const changes = [{ title: 'Lost' }, { pinned: true }, { archived: true }, { title: 'Lost too' }]
    const kept = await place.ids()
    for (const change of changes) await place.change(change)
    const lost = (await place.ids()).filter((id) => !kept.includes(id))
    expect(lost.filter((id) => /^\d+-[0-9a-z]+-[0-9a-z]+-$/.test(id))).toHaveLength(4)
    for (const id of lost) expect(await place.follow(id, true)).toBe('ok')
    await place.sendMessage('two')
    for (const id of lost) expect(await place.follow(id, true)).toBe('ok')
    await place.restore()
    for (const text of ['three', 'four']) await place.sendMessage(text)
    for (const id of lost) expect(await place.follow(id, true)).toBe('409 other-history')
  })

  it('[OP6] answers a place and a cursor of a thread that was made anew under its id as such', async () => {
    const place = openPlace()
    await place.sendMessage('one')
    await place.sendMessage('two')
    const ids = [...(await place.ids()), (await place.page()).place]
    const { nextCursor } = await place.page('limit=1')
    await place.fetch(`/api/threads/${thread}`, { method: 'DELETE' })
    for (const text of ['one', 'two', 'three']) await place.sendMessage(text)
    for (const id of ids) expect(await place.follow(id)).toBe('409 other-history')
    expect(await place.page(`limit=1&cursor=${nextCursor}`)).toMatchObject({ status: 409 })
    for (const id of await place.ids()) expect(await place.follow(id)).toBe('ok')
    const again = await place.page('limit=1')
    expect((await place.page(`limit=1&cursor=${again.nextCursor}`)).status).toBe(200)
  })

  it('[OP6] is shown as it is stored by a client that comes back late', async () => {
    const place = openPlace()
    await place.sendMessage('one')
    await place.backUp()
    await place.sendMessage('two')
    const client = createThreadClient({ threadId: thread, fetch: place.fetch, pageSize: 200 })
    let leave = client.subscribe(() => {})
    await shows(client, ['one', 'two'])
    leave()
    await place.restore()
    for (const text of ['three', 'four', 'five']) await place.sendMessage(text)
    leave = client.subscribe(() => {})
    await shows(client, ['one', 'three', 'four', 'five'])
    await place.sendMessage('six')
    await shows(client, ['one', 'three', 'four', 'five', 'six'])
    expect(client.getSnapshot().connection.status).toBe('live')
    leave()
  })
})

/** Once it is all there, and everything has been answered. */
async function shows(client: ThreadClient, texts: readonly string[]): Promise<void> {
  const readTexts = () =>
    client
      .getSnapshot()
      .messages.flatMap((message) =>
        message.role === 'user'
          ? message.parts.map((part) => (part.type === 'text' ? part.text : ''))
          : [],
      )
  await new Promise<void>((resolve) => {
    const check = () => {
      const { isRunning, messages } = client.getSnapshot()
      if (isRunning || messages.length !== texts.length * 2) return
      if (JSON.stringify(readTexts()) !== JSON.stringify(texts)) return
      stop()
      resolve()
    }
    const stop = client.subscribe(check)
    check()
  })
}
