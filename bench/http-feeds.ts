import { Agent, get, type IncomingMessage, request } from 'node:http'
import { createSseDecoder } from '../src/protocol/sse.ts'
import { createSignal } from '../test/support/signal.ts'

/** One connection each, as browsers have them; what does not answer at once is not queued behind another. */
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

export interface Feed {
  /** Frames that came, the changes in them, and those whose `after` was not the seq before. */
  readonly frames: number
  readonly changes: number
  readonly gaps: number
  readonly seq: number
  readonly chars: number
  /** Resolves when the change with this seq has come. */
  reached(seq: number): Promise<void>
  close(): void
}

/** Follows `/events` and proves of each frame that it follows the one before. */
async function openFeed(url: string, threadId: string): Promise<Feed> {
  const response = await open(`${url}/api/threads/${threadId}/events`)
  const arrived = createSignal()
  const feed = {
    ...{ frames: 0, changes: 0, gaps: 0, seq: 0, chars: 0 },
    reached: (seq: number): Promise<void> => arrived.until(() => feed.seq >= seq),
    close: () => response.destroy(),
  }
  const decoder = createSseDecoder()
  response.setEncoding('utf8').on('data', (text: string) => {
    feed.chars += text.length
    for (const item of decoder.push(text)) {
      // A named event, such as a note about a slow database, is no frame.
      if (item.type === 'comment' || item.event !== undefined) continue
      const frame = JSON.parse(item.data) as { readonly after: number; readonly seq: number }
      const { after, seq } = frame
      if (after !== feed.seq) feed.gaps++
      feed.frames++
      feed.changes += seq - after
      feed.seq = seq
    }
    arrived.notify()
  })
  response.on('error', () => {
    // Closed on purpose, or missed at the end by its seq.
  })
  return feed
}

/** One for each id. */
export async function openFeeds(url: string, ids: readonly string[]): Promise<readonly Feed[]> {
  const feeds: Feed[] = []
  // Some at a time: a listener has a short queue for new connections.
  for (let from = 0; from < ids.length; from += 50) {
    const some = ids.slice(from, from + 50)
    feeds.push(...(await Promise.all(some.map((id) => openFeed(url, id)))))
  }
  return feeds
}

/** Opens so many streams, and lets whatever comes go. */
export async function openIdly(url: string, count: number): Promise<() => void> {
  const responses = await Promise.all(Array.from({ length: count }, () => open(url)))
  for (const response of responses) response.resume().on('error', () => {})
  return () => {
    for (const response of responses) response.destroy()
  }
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      if (response.statusCode === 200) return resolve(response)
      return reject(new Error(`${url} answered ${response.statusCode}`))
    }).on('error', reject)
  })
}

export async function postJson(url: string, body: unknown): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
      response.on('end', () => {
        if ((response.statusCode ?? 0) < 300) resolve(text)
        else reject(new Error(`${url} answered ${response.statusCode}: ${text}`))
      })
      response.on('error', reject)
    })
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })
}

export const chat = (url: string, threadId: string, words: number): Promise<void> =>
  ask(url, threadId, `Say ${words} words.`)

/** Sends a message and reads its answer to the end. */
export async function ask(url: string, threadId: string, text: string): Promise<void> {
  const parts = [{ type: 'text', text }]
  const message = { id: crypto.randomUUID(), role: 'user', parts }
  const answer = await postJson(`${url}/api/chat`, { id: threadId, messages: [message] })
  if (!answer.endsWith('data: [DONE]\n\n')) throw new Error('An answer was cut off.')
}
