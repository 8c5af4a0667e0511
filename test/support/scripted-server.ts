import { createNetwork, type Connectivity } from '../../src/client/network.ts'
import type { LedgerEvent, NewEvent } from '../../src/core/event.ts'
import { foldThread } from '../../src/core/fold-thread.ts'
import { parseMessageId } from '../../src/core/ids.ts'
import type { EventFrame } from '../../src/protocol/event-frame.ts'
import { createScriptedClock, type ScriptedClock, settled } from './scripted-clock.ts'

export interface ScriptedRequest {
  /** `GET /api/threads/t/events?after=3` */
  readonly line: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal | null
}

/**
 * What a request is answered with. null: nothing ever comes, unless the signal ends it; undefined: what comes without
 * this answer.
 */
export type Answer = (request: ScriptedRequest) => Response | Promise<Response> | null | undefined

/** A server, a network and a clock that do what a test says, and nothing by themselves. */
export interface ScriptedServer {
  readonly clock: ScriptedClock
  readonly requests: readonly ScriptedRequest[]
  /** The requests so far, without the part before the path; and forgets them. */
  readonly drainRequests: () => readonly string[]
  /** Every client is made with these. */
  readonly options: {
    readonly fetch: typeof fetch
    readonly clock: ScriptedClock
    readonly network: ReturnType<typeof createNetwork>
    readonly random: () => number
  }
  /** Beats what the server does by itself, for requests whose line fits; the newest first. */
  readonly on: (line: RegExp, answer: Answer) => () => void
  /** The newest stream that was opened. */
  readonly stream: () => ScriptedStream
  readonly openStreams: () => number
  readonly setOnline: (isOnline: boolean) => Promise<void>
  /** Stores events, and says nothing. */
  readonly store: (...events: readonly NewEvent[]) => void
  /** Another thread takes the id of this one. */
  readonly makeAnew: (...events: readonly NewEvent[]) => void
  /** The frame of what is stored after a seq. */
  readonly frameAfter: (after: number) => EventFrame
}

export interface ScriptedStream {
  readonly send: (text: string | Uint8Array) => Promise<void>
  readonly frame: (frame: EventFrame) => Promise<void>
  readonly end: () => Promise<void>
  readonly break: () => Promise<void>
}

const sse = { 'content-type': 'text/event-stream' }

export const messageAdded = (id: string): NewEvent => ({
  type: 'message-added',
  at: 1,
  messageId: parseMessageId(id),
  role: 'user',
  parts: [{ type: 'text', text: id }],
})
export const retired = (...ids: readonly string[]): NewEvent => ({
  type: 'messages-retired',
  at: 1,
  messageIds: ids.map(parseMessageId),
})

/** A stream that says this and ends. */
export const eventStream = (text: string): Response => new Response(text, { headers: sse })

export const refusal = (status: number, code: string, headers: Record<string, string> = {}) =>
  Response.json({ error: { code, message: `${code}.` } }, { status, headers })

export function createScriptedServer(...before: readonly NewEvent[]): ScriptedServer {
  const clock = createScriptedClock()
  const requests: ScriptedRequest[] = []
  const answers: { readonly line: RegExp; readonly answer: Answer }[] = []
  const watchers = new Set<() => void>()
  const streams: { readonly stream: ScriptedStream; isOpen: boolean }[] = []
  let isOnline = true
  let events: LedgerEvent[] = []
  let read = 0

  const store = (...added: readonly NewEvent[]) => {
    for (const event of added) events.push({ ...event, seq: events.length + 1 })
  }
  store(...before)

  const connectivity: Connectivity = {
    isOnline: () => isOnline,
    watch(onChange) {
      watchers.add(onChange)
      return () => void watchers.delete(onChange)
    },
  }

  const openStream = (signal: AbortSignal | null): Response => {
    let controller!: ReadableStreamDefaultController<Uint8Array>
    const encoder = new TextEncoder()
    const body = new ReadableStream<Uint8Array>({
      start: (made) => void (controller = made),
      cancel: () => void (entry.isOpen = false),
    })
    const close = (how: () => void) => async () => {
      if (entry.isOpen) how()
      entry.isOpen = false
      await settled()
    }
    const send = async (text: string | Uint8Array) => {
      controller.enqueue(typeof text === 'string' ? encoder.encode(text) : text)
      await settled()
    }
    const stream: ScriptedStream = {
      send,
      frame: (frame) => send(`id: ${frame.seq}\ndata: ${JSON.stringify(frame)}\n\n`),
      end: close(() => controller.close()),
      break: close(() => controller.error(new TypeError('terminated'))),
    }
    const entry = { stream, isOpen: true }
    streams.push(entry)
    signal?.addEventListener('abort', () => {
      if (entry.isOpen) controller.error(signal.reason)
      entry.isOpen = false
    })
    return new Response(body, { headers: sse })
  }

  const page = (url: URL): Response => {
    const changes = events.map((event) => ({ kind: 'event', seq: event.seq, event }) as const)
    const { messages } = foldThread({ seq: 0, messages: [] }, changes)
    const limit = Number(url.searchParams.get('limit'))
    const under = Number(url.searchParams.get('cursor') ?? Number.POSITIVE_INFINITY)
    const rest = messages.filter(({ seq }) => seq < under).toReversed()
    const results = rest.slice(0, limit)
    const hasMore = rest.length > limit
    const nextCursor = hasMore ? String(results.at(-1)?.seq) : null
    return Response.json({ results, hasMore, nextCursor, seq: events.length })
  }

  const byItself: Answer = ({ line, signal }) => {
    const url = new URL(line.split(' ')[1] as string, 'http://scripted')
    if (url.pathname.endsWith('/events')) {
      const after = Number(url.searchParams.get('after'))
      return after > events.length ? refusal(400, 'bad-request') : openStream(signal)
    }
    if (url.pathname.endsWith('/messages')) return page(url)
    return Response.json({ title: 'A thread' })
  }

  const answerTo = (request: ScriptedRequest) => {
    for (const { line, answer } of answers) {
      const own = line.test(request.line) ? answer(request) : undefined
      if (own !== undefined) return own
    }
    return byItself(request)
  }

  const send: typeof fetch = (input, init = {}) => {
    const { method = 'GET', body, headers, signal = null } = init
    const request: ScriptedRequest = {
      line: `${method} ${input instanceof Request ? input.url : input.toString()}`,
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      headers: { ...(headers as Record<string, string>) },
      signal,
    }
    requests.push(request)
    const answer = answerTo(request)
    if (answer != null) return Promise.resolve(answer)
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error))
    })
  }

  return {
    clock,
    requests,
    drainRequests() {
      const lines = requests.slice(read).map(({ line }) => line.replace('/api/threads/t', ''))
      read = requests.length
      return lines
    },
    options: { fetch: send, clock, network: createNetwork(clock, connectivity), random: () => 1 },
    on(line, answer) {
      const entry = { line, answer }
      answers.unshift(entry)
      return () => void answers.splice(answers.indexOf(entry), 1)
    },
    stream: () => (streams.at(-1) as (typeof streams)[number]).stream,
    openStreams: () => streams.filter(({ isOpen }) => isOpen).length,
    async setOnline(next) {
      isOnline = next
      for (const onChange of [...watchers]) onChange()
      await settled()
    },
    store,
    makeAnew(...added) {
      events = []
      store(...added)
    },
    frameAfter: (after) => ({ after, seq: events.length, events: events.slice(after) }),
  }
}
