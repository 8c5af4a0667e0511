import { tool, type UIMessage } from 'ai'
import { type Holdfast, parseThreadId } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, sdks } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

const threadId = 'queue-1'

/** A tool that runs until the test lets it end. */
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
    index === 0 && step === 0 ? [{ call: 'slow', input: {} }] : [{ text: `Answer to ${text}.` }]
  const server = await startChatServer(script, { tools: { slow } })
  return { ...server, begun: begun.promise, finish: () => done.resolve('done') }
}

async function untilQueued(holdfast: Holdfast): Promise<void> {
  const stop = new AbortController()
  for await (const { queue = [] } of holdfast.subscribe(parseThreadId(threadId), 0, stop.signal)) {
    if (queue.length > 0) break
  }
  stop.abort()
}

const shows = (text: string) => (messages: readonly UIMessage[]) =>
  JSON.stringify(messages).includes(text)

describe.each(sdks)('AI SDK %i, unmodified', (client) => {
  it('[IN1] sends twice and gets both answers, each in its own response', async () => {
    const { url, begun, finish } = await open()
    const tab = openTab({ url, threadId, client })
    const other = openTab({ url, threadId, client })
    const first = tab.chat.sendMessage({ text: 'one' })
    await begun
    const second = tab.chat.sendMessage({ text: 'two' })
    const third = other.chat.sendMessage({ text: 'three' })
    finish()
    await Promise.all([first, second, third])
    expect([tab.chat.error, other.chat.error]).toEqual([undefined, undefined])
    expect(shows('Answer to one.')(tab.messages())).toBe(true)
    expect(shows('Answer to two.')(tab.messages())).toBe(true)
    const page = await readPage({ url, threadId, sdk: client })
    expect(page.filter(({ role }) => role === 'user')).toHaveLength(3)
    expect(page.filter(({ role }) => role === 'assistant')).toHaveLength(3)
    // The other tab holds its own question and the answer to it, as the page has them.
    const own = page.slice(page.findIndex((message) => shows('"three"')([message])))
    expect(other.messages()).toEqual(own.slice(0, 2))
    expect(shows('Answer to three.')(other.messages())).toBe(true)
  })

  it('[IN3] is shown what it said where it joined, live as in the page', async () => {
    const { url, begun, finish } = await open()
    const tab = openTab({ url, threadId, client })
    const first = tab.chat.sendMessage({ text: 'one' })
    await begun
    const other = openTab({ url, threadId, client })
    const joined = other.chat.sendMessage({ text: 'aside' }, { body: { whenBusy: 'steer' } })
    await other.until(shows('tool-slow'))
    finish()
    await Promise.all([first, joined])
    const page = await readPage({ url, threadId, sdk: client })
    expect(tab.messages()).toEqual(page)
    expect(other.messages()[1]).toEqual(page[1])
    const types = page[1]?.parts.map(({ type }) => type)
    const steering = client === 7 ? 'steering-message' : 'data-steering'
    expect(types).toEqual(['step-start', 'tool-slow', steering, 'step-start', 'text'])
    expect(shows('Answer to aside.')(page)).toBe(true)
  })

  it('[IN5] ends the response of a message that a stop holds', async () => {
    const { url, begun, holdfast } = await open()
    const tab = openTab({ url, threadId, client })
    const other = openTab({ url, threadId, client })
    const first = tab.chat.sendMessage({ text: 'one' })
    await begun
    const second = other.chat.sendMessage({ text: 'two' })
    await untilQueued(holdfast)
    const stopped = await fetch(`${url}/api/chat/${threadId}/stop`, { method: 'POST' })
    expect(await stopped.json()).toEqual({ status: 'stopped', held: 1 })
    await Promise.all([first, second])
    expect(other.chat.error).toBeUndefined()
    expect(other.chat.status).toBe('ready')
    const answer = await fetch(`${url}/api/threads/${threadId}/queue`)
    expect(await answer.json()).toMatchObject({ results: [{ text: 'two', held: true }] })
  })
})
