import { tool, type UIMessage } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, sdks } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

const threadId = 'conversation-1'

/** The first step of all runs a tool until the test lets it end. */
async function open() {
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<string>()
  const slow = tool({
    inputSchema: z.object({}),
    execute: () => {
      begun.resolve()
      return done.promise
    },
  })
  const script: Script = (text, step, { index }) =>
    index === 0 && step === 0
      ? [{ call: 'slow', input: {} }]
      : [{ text: `Answer ${index} to ${text}.`, pieces: 3 }]
  const server = await startChatServer(script, { tools: { slow } })
  return { ...server, begun: begun.promise, finish: () => done.resolve('done') }
}

const shows = (text: string) => (messages: readonly UIMessage[]) =>
  JSON.stringify(messages).includes(text)

describe.each(sdks)('AI SDK %i, unmodified', (client) => {
  it('[IN1 FD1] sends twice in one tab while the first answer is shown, and holds what the page has', async () => {
    const { url, begun, finish } = await open()
    const tab = openTab({ url, threadId, client })
    const first = tab.chat.sendMessage({ text: 'one' })
    await begun
    await tab.until(shows('tool-slow'))
    const second = tab.chat.sendMessage({ text: 'two' })
    await tab.until(shows('"two"'))
    finish()
    await Promise.all([first, second])
    expect(tab.chat.error).toBeUndefined()
    expect(tab.messages()).toEqual(await readPage({ url, threadId, sdk: client }))
    expect(tab.messages().map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ])
  })

  it('[VR1 FD1] makes an answer anew, and holds its versions as the page does', async () => {
    const { url, finish } = await open()
    finish()
    const tab = openTab({ url, threadId, client })
    await tab.chat.sendMessage({ text: 'one' })
    await tab.chat.regenerate()
    const page = await readPage({ url, threadId, sdk: client })
    expect(tab.messages()).toEqual(page)
    const metadata = page.at(-1)?.metadata as
      | { readonly versions: { readonly ids: readonly string[] } }
      | undefined
    expect(metadata?.versions.ids).toHaveLength(2)
    const [earlier = ''] = metadata?.versions.ids ?? []
    const shown = await fetch(`${url}/api/threads/${threadId}/messages/${earlier}/show`, {
      method: 'POST',
    })
    expect(shown.status).toBe(200)
    // By route and reload: a tab that is opened now goes on from what is shown.
    const again = await readPage({ url, threadId, sdk: client })
    const reloaded = openTab({ url, threadId, client, messages: again })
    await reloaded.chat.sendMessage({ text: 'two' })
    const after = await readPage({ url, threadId, sdk: client })
    expect(reloaded.messages()).toEqual(after)
    expect(after.map(({ id }) => id)).toContain(earlier)
  })

  it('[FL2 FD1] sends a file, and holds the message as the page has it', async () => {
    const { url, finish } = await open()
    finish()
    const uploaded = await fetch(`${url}/api/files`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-filename': 'notes.txt' },
      body: 'content',
    })
    const file = (await uploaded.json()) as { readonly url: string; readonly mediaType: string }
    const tab = openTab({ url, threadId, client })
    const files = [{ type: 'file' as const, mediaType: file.mediaType, url: file.url }]
    await tab.chat.sendMessage({ text: 'one', files })
    const page = await readPage({ url, threadId, sdk: client })
    expect(tab.messages()).toEqual(page)
    expect(page[0]?.parts.map(({ type }) => type)).toEqual(['file', 'text'])
  })
})
