import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory, type Turn } from 'holdfast'
import { createHandler, createRecordingProxy, listen, translateDataStream } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startChatServer } from './chat-server.ts'
import { openTab } from './chat-tab.ts'
import { readPage } from './thread-page.ts'

/** What AI SDK 4.3.19 sends for two parallel calls. */
const golden = `f:{"messageId":"msg-e6aqHTnhXHZa7bola1vtOZju"}
g:"Need two lookups."
0:"Checking both "
0:"cities."
b:{"toolCallId":"call-A","toolName":"weather"}
c:{"toolCallId":"call-A","argsTextDelta":"{\\"city\\":"}
c:{"toolCallId":"call-A","argsTextDelta":"\\"Berlin\\"}"}
9:{"toolCallId":"call-A","toolName":"weather","args":{"city":"Berlin"}}
9:{"toolCallId":"call-B","toolName":"weather","args":{"city":"Oslo"}}
a:{"toolCallId":"call-B","result":{"city":"Oslo","tempC":12}}
a:{"toolCallId":"call-A","result":{"city":"Berlin","tempC":20}}
e:{"finishReason":"tool-calls","usage":{"promptTokens":10,"completionTokens":20},"isContinued":false}
f:{"messageId":"msg-8UHPsBZ56eP0YtzB3NQSLRo8"}
0:"Berlin 20C, "
0:"Oslo 12C."
e:{"finishReason":"stop","usage":{"promptTokens":40,"completionTokens":8},"isContinued":false}
d:{"finishReason":"stop","usage":{"promptTokens":50,"completionTokens":28}}
`

const bytesOf = (text: string, size = text.length): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder().encode(text)
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size))
      controller.close()
    },
  })
}

const translate = async (text: string, size?: number) => {
  const chunks: { readonly type: string }[] = []
  for await (const chunk of translateDataStream(bytesOf(text, size))) chunks.push(chunk)
  return chunks
}

describe('the old line protocol', () => {
  it('[RS4] is translated to the chunks of the new one, however the bytes were cut', async () => {
    const chunks = await translate(golden)
    expect(chunks).toEqual([
      { type: 'start', messageId: 'msg-e6aqHTnhXHZa7bola1vtOZju' },
      { type: 'start-step' },
      { type: 'reasoning-start', id: 'reasoning-0' },
      { type: 'reasoning-delta', id: 'reasoning-0', delta: 'Need two lookups.' },
      { type: 'reasoning-end', id: 'reasoning-0' },
      { type: 'text-start', id: 'text-1' },
      { type: 'text-delta', id: 'text-1', delta: 'Checking both ' },
      { type: 'text-delta', id: 'text-1', delta: 'cities.' },
      { type: 'text-end', id: 'text-1' },
      { type: 'tool-input-start', toolCallId: 'call-A', toolName: 'weather' },
      { type: 'tool-input-delta', toolCallId: 'call-A', inputTextDelta: '{"city":' },
      { type: 'tool-input-delta', toolCallId: 'call-A', inputTextDelta: '"Berlin"}' },
      {
        type: 'tool-input-available',
        toolCallId: 'call-A',
        toolName: 'weather',
        input: { city: 'Berlin' },
      },
      {
        type: 'tool-input-available',
        toolCallId: 'call-B',
        toolName: 'weather',
        input: { city: 'Oslo' },
      },
      {
        type: 'tool-output-available',
        toolCallId: 'call-B',
        output: { city: 'Oslo', tempC: 12 },
      },
      {
        type: 'tool-output-available',
        toolCallId: 'call-A',
        output: { city: 'Berlin', tempC: 20 },
      },
      { type: 'finish-step' },
      { type: 'start-step' },
      { type: 'text-start', id: 'text-2' },
      { type: 'text-delta', id: 'text-2', delta: 'Berlin 20C, ' },
      { type: 'text-delta', id: 'text-2', delta: 'Oslo 12C.' },
      { type: 'text-end', id: 'text-2' },
      { type: 'finish-step' },
      { type: 'finish', finishReason: 'stop' },
    ])
    for (const size of [1, 7, 100]) expect(await translate(golden, size)).toEqual(chunks)
  })

  it('[RS4] is read where `7:` begins a tool, and passed over where nobody knows a code', async () => {
    const lines = [
      '7:{"toolCallId":"a","toolName":"look"}',
      'c:{"toolCallId":"a","argsTextDelta":"{}"}',
      '9:{"toolCallId":"a","toolName":"look","args":{}}',
      'z:{"unknown":true}',
      'not a line',
      '0:broken',
      'a:{"toolCallId":"never heard of","result":1}',
      '7:{"tool_calls":[{"id":"b","function":{"name":"see","arguments":"{\\"x\\":1}"}}]}',
      'd:{"finishReason":"unknown"}',
    ]
    expect((await translate(lines.join('\n'))).map(({ type }) => type)).toEqual([
      'start',
      'start-step',
      'tool-input-start',
      'tool-input-delta',
      'tool-input-available',
      'tool-input-available',
      'finish-step',
      'finish',
    ])
  })

  it('[RS4] does not take a stream for complete that broke off', async () => {
    const [last] = (await translate('0:"Half')).slice(-1)
    expect(last).toMatchObject({ type: 'error' })
    expect((await translate('0:"Half"\n')).at(-1)).toMatchObject({ type: 'error' })
  })

  it('[RS4] is written for whoever asks for it, live and on resume', async () => {
    const { url } = await startChatServer((_, step) =>
      step === 0
        ? [
            { reasoning: 'Hm.' },
            { text: 'Looking.' },
            { call: 'weather', input: { city: 'Oslo' }, streamed: true },
            { call: 'boom', input: {} },
          ]
        : [{ text: 'Done.' }],
    )
    const body = {
      id: 't',
      messages: [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }
    const response = await fetch(`${url}/api/chat?protocol=data-stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(response.headers.get('x-vercel-ai-data-stream')).toBe('v1')
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await response.text()
    const [, turn] = await readPage({ url, threadId: 't' })
    const replay = await fetch(`${url}/api/chat/t/stream?protocol=data-stream&message=${turn?.id}`)
    const lines = (await replay.text()).trimEnd().split('\n')
    expect(lines.map((line) => line.slice(0, 2)).join('')).toBe('f:g:0:9:a:9:a:e:f:0:8:e:d:')
    expect(lines[0]).toBe(`f:${JSON.stringify({ messageId: turn?.id })}`)
    expect(lines.at(-2)).toBe('e:{"finishReason":"stop","isContinued":false}')
    expect(text.trimEnd().split('\n').at(-1)).toBe('d:{"finishReason":"stop"}')
    // What is written can be read.
    const types = (await translate(text)).map(({ type }) => type)
    expect(types.at(-1)).toBe('finish')
    expect(types.filter((type) => type === 'tool-output-available')).toHaveLength(2)
  })
})

describe('a backend behind the recording proxy', () => {
  const start = async (contentType: string, answer: string) => {
    const asked: unknown[] = []
    const backend = createServer((request, response) => {
      let text = ''
      request.on('data', (data: Buffer) => (text += data.toString()))
      request.on('end', () => {
        asked.push(JSON.parse(text))
        response.writeHead(200, { 'content-type': contentType, 'x-vercel-ai-data-stream': 'v1' })
        response.end(answer)
      })
    })
    await new Promise<void>((resolve) => {
      backend.listen(0, '127.0.0.1', resolve)
    })
    const { port } = backend.address() as AddressInfo
    const store = memory()
    const model = scriptedModel(() => [])
    const holdfast = createHoldfast({ store, model, recoverEveryMs: 0 })
    const proxy = createRecordingProxy(holdfast, { target: new URL(`http://127.0.0.1:${port}/`) })
    const rest = createHandler(holdfast)
    const server = await listen(
      (request) => (new URL(request.url).pathname === '/api/chat' ? proxy(request) : rest(request)),
      { port: 0, host: '127.0.0.1' },
    )
    onTestFinished(async () => {
      await server.close()
      await holdfast.close()
      backend.close()
    })
    return { url: server.url, asked, store }
  }

  it('[RS4] is shown to a new client and stored, the same', async () => {
    const { url, asked } = await start('text/plain', golden)
    const tab = openTab({ url, threadId: 't', client: 7 })
    await tab.chat.sendMessage({ text: 'Berlin and Oslo?' })
    expect(tab.chat.error).toBeUndefined()
    const page = await readPage({ url, threadId: 't', sdk: 7 })
    expect(tab.messages()).toEqual(page)
    expect(page[1]?.parts.map((part) => ('state' in part ? part.state : part.type))).toEqual([
      'step-start',
      'done',
      'done',
      'output-available',
      'output-available',
      'step-start',
      'done',
    ])
    expect(asked).toHaveLength(1)
    await tab.chat.sendMessage({ text: 'again' })
    expect(tab.messages()).toEqual(await readPage({ url, threadId: 't', sdk: 7 }))
  })

  it('[RS4] may speak the new protocol under the old header', async () => {
    const chunks = await translate(golden)
    const sse = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
    const { url, store } = await start('text/event-stream', `${sse}data: [DONE]\n\n`)
    const tab = openTab({ url, threadId: 't', client: 5 })
    await tab.chat.sendMessage({ text: 'Berlin and Oslo?' })
    expect(tab.messages()).toEqual(await readPage({ url, threadId: 't', sdk: 5 }))
    const turn = (await store.readMessage('t', tab.messages()[1]?.id as never)) as Turn
    expect(turn.recorded).toBe(true)
  })

  it('[RS4 FD1] has its own data stored where it came, the last of each id', async () => {
    const data = (name: string, value: unknown, more: object = {}) => ({
      type: `data-${name}`,
      data: value,
      ...more,
    })
    const chunks = [
      { type: 'start', messageId: 'theirs' },
      data('plan', ['early']),
      data('toast', 'gone at once', { transient: true }),
      { type: 'message-metadata', messageMetadata: { a: 1 } },
      data('progress', 10, { id: 'p' }),
      { type: 'start-step' },
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Hello.' },
      { type: 'text-end', id: 't' },
      data('progress', 50, { id: 'p' }),
      data('toast', 'gone at once', { transient: true }),
      { type: 'finish-step' },
      data('progress', 100, { id: 'p' }),
      data('sources', null),
      { type: 'finish' },
    ]
    const sse = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
    const { url } = await start('text/event-stream', `${sse}data: [DONE]\n\n`)
    const tab = openTab({ url, threadId: 't', client: 7 })
    await tab.chat.sendMessage({ text: 'hi' })
    expect(tab.chat.error).toBeUndefined()
    const page = await readPage({ url, threadId: 't', sdk: 7 })
    expect(tab.messages()).toEqual(page)
    expect(page[1]?.parts).toEqual([
      { type: 'step-start' },
      { type: 'data-plan', data: ['early'] },
      { type: 'data-progress', id: 'p', data: 100 },
      { type: 'text', text: 'Hello.', state: 'done' },
      { type: 'data-sources', data: null },
    ])
  })

  it('[RS4 ST2] that breaks off leaves a turn that says so', async () => {
    const { url } = await start('text/plain', golden.slice(0, golden.indexOf('a:{')))
    const tab = openTab({ url, threadId: 't', client: 7 })
    await tab.chat.sendMessage({ text: 'go' })
    expect(tab.chat.status).toBe('error')
    const page = await readPage({ url, threadId: 't', sdk: 7 })
    expect(tab.messages()).toEqual(page)
    expect(JSON.stringify(page)).not.toContain('"input-available"')
  })

  it('[RS4 LE4] has no success of a call that it calls refused or incomplete', async () => {
    const note = (toolCallId: string, validated: unknown, isComplete: boolean) =>
      `8:${JSON.stringify([{ toolCallId, validated, isComplete }])}\n`
    const notes = `${note('call-B', false, true)}${note('call-A', null, false)}`
    const { url } = await start('text/plain', golden.replace('a:{', `${notes}a:{`))
    const tab = openTab({ url, threadId: 't', client: 7 })
    await tab.chat.sendMessage({ text: 'go' })
    const page = await readPage({ url, threadId: 't', sdk: 7 })
    expect(tab.messages()).toEqual(page)
    expect(JSON.stringify(page)).not.toMatch(/output-available|data-annotation/)
    expect(JSON.stringify(page)).toMatch(/Declined.*Berlin 20C/)
    const response = await fetch(`${url}/api/messages/${page[1]?.id}/tool-calls?include=all`)
    const { toolCalls } = (await response.json()) as { toolCalls: { state: string }[] }
    expect(toolCalls.map(({ state }) => state)).toEqual(['failed', 'denied'])
  })
})
