import type { UIMessage, UIMessageChunk } from 'ai'
import { createChatTransport } from 'holdfast/client'
import { describe, expect, it } from 'vitest'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, sdks } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

const threadId = 'chat 1'

const script: Script = (text, step) => {
  if (text === 'hang') return [{ text: 'One moment.' }, { call: 'hang', input: {} }]
  return step === 0
    ? [{ text: 'Looking.' }, { call: 'weather', input: { city: 'Oslo' } }]
    : [{ text: 'Warm.' }]
}

interface SentRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly credentials: RequestCredentials | undefined
  readonly body: Readonly<Record<string, unknown>>
}

/** A `fetch` that writes down what it was asked. */
function watchFetch(url: string) {
  const asked: SentRequest[] = []
  const watched: typeof fetch = (input, init = {}) => {
    const { headers, credentials, body } = init
    asked.push({
      path: (input as string).slice(url.length),
      headers: Object.fromEntries(new Headers(headers)),
      credentials,
      body: typeof body === 'string' ? (JSON.parse(body) as SentRequest['body']) : {},
    })
    return fetch(input, init)
  }
  return { asked, watched }
}

describe.each(sdks)('the transport in AI SDK %i', (client) => {
  const open = async () => {
    const server = await startChatServer(script)
    const create = () =>
      createChatTransport<UIMessage, UIMessageChunk>({ baseUrl: server.url, sdk: client })
    const page = () =>
      readPage({ url: server.url, threadId: encodeURIComponent(threadId), sdk: client })
    return { ...server, create, page, place: { url: server.url, threadId, client } }
  }

  it('[RS3 FD1] sends, stops, makes anew, and holds what the page holds', async () => {
    const { create, page, place, calls } = await open()
    const transport = create()
    const tab = openTab({ ...place, transport })
    await tab.chat.sendMessage({ text: 'weather' })
    await tab.chat.regenerate()
    expect(tab.messages()).toEqual(await page())
    const sent = tab.chat.sendMessage({ text: 'hang' })
    await tab.until((messages) => JSON.stringify(messages).includes('"input-available"'))
    await transport.stop(threadId)
    await sent
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect(calls.length).toBe(5)
  })

  it('[RS3] begins with nothing in a chat that nobody has written to yet', async () => {
    const { create, page, place } = await open()
    const transport = create()
    const messages = await transport.load(threadId)
    expect(messages).toEqual([])
    const tab = openTab({ ...place, transport, messages })
    await tab.chat.resumeStream()
    expect(tab.chat.error).toBeUndefined()
    expect(tab.chat.status).toBe('ready')
    await tab.chat.sendMessage({ text: 'weather' })
    expect(tab.messages()).toEqual(await page())
  })

  it('[RS3] loses nothing of a turn that ends between the page and the stream', async () => {
    const { create, page, place, holdfast } = await open()
    const transport = create()
    const tab = openTab({ ...place, transport })
    const sent = tab.chat.sendMessage({ text: 'hang' })
    await tab.until((messages) => JSON.stringify(messages).includes('"input-available"'))
    const again = create()
    const messages = await again.load(threadId)
    expect(messages.map(({ role }) => role)).toEqual(['user'])
    await transport.stop(threadId)
    await sent
    await holdfast.settled()
    const reloaded = openTab({ ...place, transport: again, messages })
    await reloaded.chat.resumeStream()
    expect(reloaded.chat.error).toBeUndefined()
    expect(reloaded.messages()).toEqual(await page())
    expect(reloaded.messages()).toHaveLength(2)
    // And asked again, there is nothing to resume.
    await reloaded.chat.resumeStream()
    expect(reloaded.messages()).toEqual(await page())
  })

  it('[RS3] the SDK’s own transport loses nothing either, when it asks for the turn that was left out', async () => {
    const { page, place, holdfast, url } = await open()
    const first = openTab(place)
    const sent = first.chat.sendMessage({ text: 'hang' })
    const address = `${url}/api/threads/${encodeURIComponent(threadId)}/messages?live=exclude`
    const read = async () => {
      const response = await fetch(`${address}&sdk=${client}`)
      return (await response.json()) as {
        readonly results?: readonly UIMessage[]
        readonly live?: { readonly messageId: string } | null
      }
    }
    await first.until((messages) => JSON.stringify(messages).includes('"input-available"'))
    const before = await read()
    expect(before.live).toBeTruthy()
    await holdfast.stop(threadId)
    await sent
    const { results = [], live } = before
    const messages = results.toReversed()
    const plain = openTab({ ...place, messages })
    await plain.chat.resumeStream()
    expect(plain.messages()).toHaveLength(1)
    const tab = openTab({ ...place, messages, live: live?.messageId ?? '' })
    await tab.chat.resumeStream()
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await page())
    expect(tab.messages()).toHaveLength(2)
  })

  it('[RS3] sends headers, further fields and credentials, of all requests and of one', async () => {
    const { place, url } = await open()
    const { asked, watched } = watchFetch(url)
    let count = 0
    const transport = createChatTransport<UIMessage, UIMessageChunk>({
      baseUrl: url,
      sdk: client,
      fetch: watched,
      headers: async () => new Headers({ 'X-Tenant': 'a', 'X-Count': String((count += 1)) }),
      body: () => ({ plan: 'free', id: 'not this' }),
      credentials: Promise.resolve('include' as const),
    })
    const messages = await transport.load(threadId)
    const tab = openTab({ ...place, transport, messages })
    await tab.chat.sendMessage({ text: 'weather' })
    const one = { headers: { 'x-tenant': 'b', 'x-one': '1' }, body: { plan: 'paid', tone: 'dry' } }
    await tab.chat.sendMessage({ text: 'weather' }, one)
    await tab.chat.resumeStream({ headers: { 'x-one': '2' } })
    await transport.stop(threadId)
    expect(tab.chat.error).toBeUndefined()
    const chat = `/api/chat/${encodeURIComponent(threadId)}`
    expect(asked.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
      `/api/threads/${encodeURIComponent(threadId)}/messages`,
      '/api/chat',
      '/api/chat',
      `${chat}/stream`,
      `${chat}/stop`,
    ])
    expect(asked.map(({ credentials }) => credentials)).toEqual(asked.map(() => 'include'))
    expect(asked.map(({ headers }) => headers['x-tenant'])).toEqual(['a', 'a', 'b', 'a', 'a'])
    expect(asked.map(({ headers }) => headers['x-one'])).toEqual([
      undefined,
      undefined,
      '1',
      '2',
      undefined,
    ])
    expect(new Set(asked.map(({ headers }) => headers['x-count'])).size).toBe(5)
    expect(asked[1]?.body).toMatchObject({ plan: 'free', id: threadId, trigger: 'submit-message' })
    expect(asked[2]?.body).toMatchObject({ plan: 'paid', tone: 'dry', id: threadId })
    expect(asked[2]?.body['messages']).toHaveLength(1)
  })

  it('[RS3] lets the host make its requests anew', async () => {
    const { page, place, url } = await open()
    const { asked, watched } = watchFetch(url)
    const seen: unknown[] = []
    const transport = createChatTransport<UIMessage, UIMessageChunk>({
      baseUrl: url,
      fetch: watched,
      headers: { 'x-tenant': 'a' },
      prepareSendMessagesRequest: async ({ api, id, messages, headers, requestMetadata }) => {
        seen.push([api, id, requestMetadata])
        return {
          api: `${api}?sdk=${client}`,
          headers: { ...headers, 'x-more': '1' },
          body: { id, message: messages.at(-1) },
        }
      },
      prepareReconnectToStreamRequest: ({ api }) => ({ api: `${api}?sdk=${client}&message=none` }),
    })
    const tab = openTab({ ...place, transport })
    await tab.chat.sendMessage({ text: 'weather' }, { metadata: { from: 'test' } })
    expect(seen).toEqual([[`${url}/api/chat`, threadId, { from: 'test' }]])
    expect(asked[0]?.headers).toMatchObject({ 'x-tenant': 'a', 'x-more': '1' })
    expect(Object.keys(asked[0]?.body ?? {})).toEqual(['id', 'message'])
    expect(tab.messages()).toEqual(await page())
    await tab.chat.resumeStream()
    expect(asked[1]?.path).toContain('message=none')
    expect(asked[1]?.headers).toMatchObject({ 'x-tenant': 'a' })
  })
})
