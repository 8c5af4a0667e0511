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
})
