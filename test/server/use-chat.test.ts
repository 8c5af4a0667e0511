import { describe, expect, it } from 'vitest'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, type Sdk, sdks, versionOf } from './chat-tab.ts'
import { readPage, reload } from './thread-page.ts'

const threadId = 'chat 1/ä'
const encoded = encodeURIComponent(threadId)

const script: Script = (text, step, { index }) => {
  if (text.startsWith('weather') && step === 0) {
    return [{ text: 'Looking.' }, { call: 'weather', input: { city: 'Oslo' }, streamed: true }]
  }
  if (text === 'hang') return [{ text: 'One moment.' }, { call: 'hang', input: {} }]
  if (text === 'fail') return [{ text: 'Half an answ' }, { fails: new Error('overloaded') }]
  if (text === 'cut off' && step === 0) {
    return [
      { text: 'Let me see.' },
      { call: 'weather', input: { city: 'Oslo' }, cutOff: true },
      { finish: 'length' },
    ]
  }
  if (text === 'ask' && step === 0) {
    return [{ text: 'A question.' }, { call: 'ask', input: { question: 'ok?' } }]
  }
  return [{ text: `Answer ${index} to ${text}.`, pieces: 3 }]
}

const stop = async (url: string): Promise<unknown> =>
  (await fetch(`${url}/api/chat/${encoded}/stop`, { method: 'POST' })).json()

describe.each(sdks)('AI SDK %i', (client) => {
  it('[RS3] is what its package brings', () => {
    expect(versionOf(client).split('.')[0]).toBe(String(client))
  })

  describe.each([client, null] as const)('declared %s', (declared: Sdk | null) => {
    const open = async () => {
      const server = await startChatServer(script)
      const place = { url: server.url, threadId, client, declared }
      const page = () => readPage({ url: server.url, threadId: encoded, sdk: declared })
      return { ...server, place, page, reload: () => reload({ ...place, encoded }) }
    }

    it('[RS3 FD1] sends, and holds what the page holds', async () => {
      const { place, page } = await open()
      const tab = openTab(place)
      await tab.chat.sendMessage({ text: 'weather' })
      await tab.chat.sendMessage({ text: 'thanks' })
      expect(tab.chat.error).toBeUndefined()
      expect(tab.messages()).toEqual(await page())
      expect(tab.messages().map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'user',
        'assistant',
      ])
    })

    it('[RS3 FD1 VR1] makes an answer anew, and edits a question', async () => {
      const { place, page, url, reload: again } = await open()
      const tab = openTab(place)
      await tab.chat.sendMessage({ text: 'weather' })
      await tab.chat.sendMessage({ text: 'second' })
      const first = tab.messages()
      await tab.chat.regenerate()
      expect(tab.messages()).toEqual(await page())
      const [old, made] = [first.at(-1)?.id ?? '', tab.messages().at(-1)?.id]
      expect(made).not.toBe(old)
      const ids = [old, made]
      expect(tab.messages().at(-1)?.metadata).toEqual({ versions: { ids, shown: made } })
      // Another version is shown by route and reload.
      await fetch(`${url}/api/threads/${encoded}/messages/${old}/show`, { method: 'POST' })
      const { tab: switched, resumed } = await again()
      await resumed
      expect(switched.messages()).toEqual(await page())
      expect(switched.messages().at(-1)?.metadata).toEqual({ versions: { ids, shown: old } })
      await switched.chat.sendMessage({ text: 'third' })
      expect(switched.messages()).toEqual(await page())
      const messageId = first[0]?.id ?? ''
      await tab.chat.sendMessage({ text: 'edited', messageId })
      expect(tab.chat.error).toBeUndefined()
      // No stream says anything about the user's message: its versions are there after a reload.
      const [question, answer] = await page()
      const { metadata, ...plain } = question ?? {}
      expect(tab.messages()).toEqual([plain, answer])
      expect(metadata).toHaveProperty('versions.ids.length', 2)
    })

    it('[ST1 RS3] is stopped after a reload, in every tab', async () => {
      const { place, page, url, reload: again, ran } = await open()
      const tab = openTab(place)
      const sent = tab.chat.sendMessage({ text: 'hang' })
      await tab.until((messages) => JSON.stringify(messages).includes('"input-available"'))
      const other = await again()
      await other.tab.until((messages) => messages.length === 2)
      expect(await stop(url)).toEqual({ status: 'stopped' })
      await Promise.all([sent, other.resumed])
      const stored = await page()
      expect(JSON.stringify(stored)).toContain('output-error')
      expect(tab.messages()).toEqual(stored)
      expect(other.tab.messages()).toEqual(stored)
      await tab.chat.sendMessage({ text: 'weather' })
      expect(tab.messages()).toEqual(await page())
      expect(ran).toEqual(['hang', 'weather'])
    })

    it('[ST2 FD1] shows a provider’s error, keeps what came before, and goes on', async () => {
      const { place, page, reload: again } = await open()
      const tab = openTab(place)
      await tab.chat.sendMessage({ text: 'fail' })
      expect(tab.chat.status).toBe('error')
      expect(tab.messages()).toEqual(await page())
      expect(JSON.stringify(tab.messages())).toContain('Half an answ')
      const other = await again()
      await other.resumed
      expect(other.tab.messages()).toEqual(tab.messages())
      await tab.chat.sendMessage({ text: 'weather' })
      expect(tab.chat.status).toBe('ready')
      expect(tab.messages()).toEqual(await page())
    })

    it('[ST4 FD1] closes a call that the token limit cut off', async () => {
      const { place, page } = await open()
      const tab = openTab(place)
      await tab.chat.sendMessage({ text: 'cut off' })
      expect(tab.messages()).toEqual(await page())
      expect(JSON.stringify(tab.messages())).toContain('output-error')
      await tab.chat.sendMessage({ text: 'next' })
      expect(tab.chat.error).toBeUndefined()
      expect(tab.messages()).toEqual(await page())
    })

    it('[RS3 FD1] takes the result of a tool that the client runs', async () => {
      const { place, page, reload: again } = await open()
      const tab = openTab({ ...place, automatic: 'outputs' })
      await tab.chat.sendMessage({ text: 'ask' })
      const call = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-ask')
      expect(call).toMatchObject({ state: 'input-available' })
      const { toolCallId } = call as { readonly toolCallId: string }
      const answer = { tool: 'ask', toolCallId, output: { ok: true } }
      await tab.chat.addToolResult(answer)
      await tab.until((messages) => JSON.stringify(messages).includes('Answer'))
      await tab.idle()
      expect(tab.chat.error).toBeUndefined()
      expect(tab.messages()).toEqual(await page())
      const other = await again()
      await other.resumed
      expect(other.tab.messages()).toEqual(await page())
    })

    it('[RS5 RS1] joins with the same message from a second tab; the first may go', async () => {
      const { place, page, url, calls } = await open()
      const one = openTab(place)
      const message = { id: 'u1', role: 'user', parts: [{ type: 'text', text: 'hang' }] } as const
      const sent = one.chat.sendMessage({ ...message, parts: [...message.parts] })
      await one.until((messages) => JSON.stringify(messages).includes('"input-available"'))
      const two = openTab(place)
      const joined = two.chat.sendMessage({ ...message, parts: [...message.parts] })
      await two.until((messages) => JSON.stringify(messages).includes('"input-available"'))
      await one.chat.stop()
      await sent
      const three = openTab(place)
      await three.chat.sendMessage({ text: 'another' }, { body: { whenBusy: 'reject' } })
      expect(three.chat.error?.message).toContain('run-active')
      expect(await stop(url)).toEqual({ status: 'stopped' })
      await joined
      expect(two.messages()).toEqual(await page())
      expect(calls).toHaveLength(1)
    })
  })
})
