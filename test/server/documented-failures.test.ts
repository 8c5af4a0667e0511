import { describe, expect, it } from 'vitest'
import { type Script, startChatServer } from './chat-server.ts'
import { openTab, sdks } from './chat-tab.ts'
import { readPage, reload, withoutDecidedApprovals } from './thread-page.ts'

/** What goes wrong with the AI SDK's own recipes for persistence and resume; each must hold here. */

const threadId = 'chat-1'

const script: Script = (text, step) => {
  if (text === 'endless') return [{ text: 'Half of it.' }, { waitMs: 600_000 }]
  if (text === 'slow') {
    return step === 0
      ? [{ text: 'Half of it.' }, { waitMs: 30 }, { call: 'weather', input: { city: 'Oslo' } }]
      : [{ text: 'The rest.' }]
  }
  if (text === 'remove' && step === 0) return [{ call: 'remove', input: { path: '/a' } }]
  if (text === 'ask' && step === 0) {
    return [{ text: 'A question.' }, { call: 'ask', input: { question: 'ok?' } }]
  }
  if (step > 0) return [{ text: 'Going on.' }, { waitMs: 30 }, { text: 'All done.' }]
  return [{ text: 'All done.' }]
}

const post = (url: string, path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })

describe.each(sdks)('AI SDK %i', (client) => {
  const open = async () => {
    const server = await startChatServer(script)
    const place = { url: server.url, threadId, client } as const
    return { ...server, place, page: () => readPage({ url: server.url, threadId, sdk: client }) }
  }

  it('[RS1] stores the whole message although its reader went away', async () => {
    const { place, page, holdfast } = await open()
    const tab = openTab(place)
    const sent = tab.chat.sendMessage({ text: 'slow' })
    await tab.until((messages) => JSON.stringify(messages).includes('Half'))
    await tab.chat.stop()
    await sent
    await holdfast.settled()
    expect(JSON.stringify(await page())).toContain('The rest.')
  })

  it('[FD1] gives the assistant’s message an id that the page has too', async () => {
    const { place, page } = await open()
    const tab = openTab(place)
    await tab.chat.sendMessage({ text: 'hello' })
    expect(tab.messages()[1]?.id).toMatch(/^msg_/)
    expect((await page())[1]?.id).toBe(tab.messages()[1]?.id)
  })

  it('[RS3] is reloaded while a client tool’s continuation runs, and loses nothing', async () => {
    const { place, page } = await open()
    const tab = openTab({ ...place, automatic: 'outputs' })
    await tab.chat.sendMessage({ text: 'ask' })
    const call = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-ask')
    const { toolCallId } = call as { readonly toolCallId: string }
    const answer = { tool: 'ask', toolCallId, output: 'yes' }
    await tab.chat.addToolResult(answer)
    await tab.until((messages) => JSON.stringify(messages).includes('Going on.'))
    const again = await reload(place)
    await Promise.all([again.resumed, tab.idle()])
    expect(again.tab.chat.error).toBeUndefined()
    expect(again.tab.messages()).toEqual(await page())
    expect(JSON.stringify(again.tab.messages())).toContain('A question.')
    expect(tab.messages()).toEqual(await page())
  })

  it('[LG4] breaks the connection, and does not end it in good order, when the turn is not over', async () => {
    const { place, holdfast } = await open()
    const tab = openTab(place)
    const sent = tab.chat.sendMessage({ text: 'endless' })
    await tab.until((messages) => JSON.stringify(messages).includes('Half'))
    await holdfast.close()
    await sent
    expect(tab.chat.status).toBe('error')
  })
})

describe.each([6, 7] as const)('AI SDK %i, approvals', (client) => {
  it('[RS3 AP5] is reloaded while the continuation runs', async () => {
    const { url } = await startChatServer(script)
    const place = { url, threadId, client, automatic: 'approvals' } as const
    const tab = openTab(place)
    await tab.chat.sendMessage({ text: 'remove' })
    const call = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-remove')
    const { approval } = call as unknown as { readonly approval: { readonly id: string } }
    await tab.chat.addToolApprovalResponse({ id: approval.id, approved: true })
    await tab.until((messages) => JSON.stringify(messages).includes('Going on.'))
    const again = await reload(place)
    await Promise.all([again.resumed, tab.idle()])
    expect(again.tab.chat.error).toBeUndefined()
    const page = await readPage({ url, threadId, sdk: client })
    expect(withoutDecidedApprovals(again.tab.messages())).toEqual(withoutDecidedApprovals(page))
  })

  it('[AP8] goes on after an approval that was given and never sent', async () => {
    const { url, ran } = await startChatServer(script)
    const tab = openTab({ url, threadId, client })
    await tab.chat.sendMessage({ text: 'remove' })
    const call = tab.messages()[1]?.parts.find(({ type }) => type === 'tool-remove')
    const { approval } = call as unknown as { readonly approval: { readonly id: string } }
    await tab.chat.addToolApprovalResponse({ id: approval.id, approved: true })
    await tab.chat.sendMessage({ text: 'something else' })
    expect(tab.chat.error).toBeUndefined()
    expect(JSON.stringify(tab.messages().at(-1))).toContain('All done.')
    expect(ran).toEqual([])
  })
})

describe('a server', () => {
  it('[AP2] runs an approved tool once, however often the approval is posted', async () => {
    const { url, ran } = await startChatServer(script)
    const sent = await post(url, '/api/chat?sdk=7', {
      id: threadId,
      messages: [user('u', 'remove')],
    })
    await sent.text()
    const [, message] = await readPage({ url, threadId, sdk: 7 })
    const parts = message?.parts.map((part) =>
      part.type === 'tool-remove'
        ? { ...part, state: 'approval-responded', approval: { id: 'any', approved: true } }
        : part,
    )
    const body = { id: threadId, messages: [user('u', 'remove'), { ...message, parts }] }
    const answers = await Promise.all([0, 1, 2].map(() => post(url, '/api/chat?sdk=7', body)))
    const streams = await Promise.all(answers.map((answer) => answer.text()))
    for (const stream of [...streams, await (await post(url, '/api/chat?sdk=7', body)).text()]) {
      expect(stream).toContain('"tool-output-available"')
      expect(stream).toContain('All done.')
    }
    expect(ran).toEqual(['remove'])
  })

  it('[RS3] speaks only words that every client knows, where no version is declared', async () => {
    const { url } = await startChatServer(script)
    const body = { id: threadId, messages: [user('u', 'slow')] }
    const stream = await (await post(url, '/api/chat', body)).text()
    const types = new Set([...stream.matchAll(/"type":"([^"]+)"/g)].map(([, type = '']) => type))
    expect([...types].toSorted()).toEqual([
      'finish',
      'finish-step',
      'start',
      'start-step',
      'text-delta',
      'text-end',
      'text-start',
      'tool-input-available',
      'tool-output-available',
    ])
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true)
  })
})
