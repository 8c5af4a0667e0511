import type { UIMessage, UIMessageChunk } from 'ai'
import { createChatTransport } from 'holdfast/client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { longAnswer, talk } from '../../src/demo/demo-answers.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { startServerProcess } from '../support/server-process.ts'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, type Sdk, sdks } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

const textOf = (messages: readonly UIMessage[]): string =>
  messages
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
    .join('')

const createTransport = (url: string, client: Sdk, send: typeof fetch = fetch) =>
  createChatTransport<UIMessage, UIMessageChunk>({ baseUrl: url, sdk: client, fetch: send })

/** A tab, and every status that it was in. */
function openWatched(url: string, client: Sdk, send?: typeof fetch) {
  const threadId = `thread-${crypto.randomUUID()}`
  const transport = createTransport(url, client, send)
  const tab = openTab({ url, threadId, client, transport })
  const statuses = new Set<string>()
  tab.chat['~registerStatusCallback'](() => statuses.add(tab.chat.status))
  const page = () => readPage({ url, threadId, sdk: client })
  return { tab, client, threadId, statuses, page }
}

/** Ends the open response after its so manieth event, as a line that breaks does. */
function breakAfter(events: number) {
  const asked: string[] = []
  const breaking: typeof fetch = async (input, init) => {
    asked.push(`${init?.method ?? 'GET'} ${new URL(input as string).pathname.split('/').at(-1)}`)
    const response = await fetch(input, init)
    if (asked.length > 1 || response.body === null) return response
    let count = 0
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, controller) {
        const frames = new TextDecoder().decode(bytes).split(/(?<=\n\n)/)
        for (const frame of frames) {
          if (frame.startsWith('data:') && count++ === events) {
            controller.error(new TypeError('terminated'))
            return
          }
          controller.enqueue(new TextEncoder().encode(frame))
        }
      },
    })
    return new Response(response.body.pipeThrough(cut), response)
  }
  return { asked, breaking }
}

it.each(['SIGKILL', 'SIGTERM'] as const)(
  '[RS10 AG8] a server that gets %s in mid-answer and comes back: the answer goes on in the same tab, and is what the page has',
  async (signal) => {
    const db = temporaryFile()
    // Slow enough that a test that stands still for some seconds still ends it in the middle.
    const first = await startServerProcess({ db, env: { DELAY_MS: '400' } })
    onTestFinished(() => void first.stop('SIGKILL'))
    const { url } = first
    const asked = { 'write a long answer': longAnswer(), 'hello there': talk('hello there', 1) }
    const tabs = Object.entries(asked).flatMap(([text, whole]) =>
      sdks.map((client) => {
        const watched = openWatched(url, client)
        return { ...watched, whole, sent: watched.tab.chat.sendMessage({ text }) }
      }),
    )
    await Promise.all(tabs.map(({ tab }) => tab.until((messages) => textOf(messages).length > 8)))
    const shown = tabs.map(({ tab }) => textOf(tab.messages()))
    await first.stop(signal)
    const PORT = new URL(url).port
    const second = await startServerProcess({ db, env: { DELAY_MS: '0', PORT } })
    onTestFinished(() => void second.stop('SIGKILL'))
    expect(second.url).toBe(url)
    for (const [index, { tab, whole, sent, statuses, page }] of tabs.entries()) {
      await sent
      expect(tab.chat.error).toBeUndefined()
      expect([...statuses]).toEqual(['submitted', 'streaming', 'ready'])
      expect(textOf(tab.messages())).toBe(whole)
      expect(shown[index]).not.toBe(whole)
      expect(tab.messages()).toEqual(await page())
    }
  },
)

const script: Script = (text, step) => {
  if (text === 'remove') {
    return step === 0
      ? [{ text: 'I ask first.' }, { call: 'remove', input: { path: '/a' } }]
      : [{ text: 'It is gone now.', pieces: 3 }]
  }
  return step === 0
    ? [
        { reasoning: 'Two lookups.' },
        { text: 'Checking both.', pieces: 3 },
        { call: 'weather', input: { city: 'Berlin' }, streamed: true },
        { call: 'steps', input: {} },
      ]
    : [{ text: 'Berlin 20C.', pieces: 3 }]
}

describe.each(sdks)('a line that breaks, in AI SDK %i', (client) => {
  it('[RS10 FD1] after any event', async () => {
    const { url, calls } = await startChatServer(script)
    for (let events = 0; ; events++) {
      const { asked, breaking } = breakAfter(events)
      const before = calls.length
      const { tab, statuses, page } = openWatched(url, client, breaking)
      await tab.chat.sendMessage({ text: 'weather' })
      expect(tab.chat.error).toBeUndefined()
      expect(statuses).not.toContain('error')
      expect(tab.messages()).toEqual(await page())
      expect(calls.length - before).toBe(2)
      if (asked.length === 1) {
        expect(events).toBeGreaterThan(8)
        break
      }
      // Before it is known which message answers, the same one is sent again, and is one all the same.
      expect(asked).toEqual(['POST chat', events === 0 ? 'POST chat' : 'GET stream'])
    }
  })
})

it.each([6, 7] as const)(
  '[RS10] an answer to an approval is sent again, and what the tab had before it is not said twice (AI SDK %i)',
  async (client) => {
    const { url, ran } = await startChatServer(script)
    for (const events of [0, 1, 2, 4]) {
      const { asked, breaking } = breakAfter(events)
      let isDecided = false
      const { tab, page } = openWatched(url, client, (input, init) =>
        isDecided ? breaking(input, init) : fetch(input, init),
      )
      await tab.chat.sendMessage({ text: 'remove' })
      isDecided = true
      const part = tab.chat.lastMessage?.parts.find((one) => one.type === 'tool-remove')
      const id = (part as { approval?: { id: string } } | undefined)?.approval?.id ?? ''
      await tab.chat.addToolApprovalResponse({ id, approved: true })
      await tab.chat.sendMessage()
      expect(tab.chat.error).toBeUndefined()
      expect(asked).toEqual(['POST chat', 'POST chat'])
      expect(textOf(tab.messages())).toBe('I ask first.It is gone now.')
      expect(tab.messages()).toEqual(await page())
    }
    expect(ran).toEqual(['remove', 'remove', 'remove', 'remove'])
  },
)
