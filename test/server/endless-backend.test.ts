import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory, parseThreadId } from 'holdfast'
import { createRecordingProxy, listen } from 'holdfast/server'
import { expect, it, onTestFinished, vi } from 'vitest'

it.each([
  ['an old backend', 'text/plain', (index: number) => `0:"${index} green bottles "\n`],
  [
    'a backend of AI SDK 7',
    'text/event-stream',
    (index: number) =>
      `data: ${JSON.stringify(
        index === 0
          ? { type: 'text-start', id: '1' }
          : { type: 'text-delta', id: '1', delta: `${index} green bottles ` },
      )}\n\n`,
  ],
])('[ST4a RS4] %s that never ends is cut off and hung up on', async (_, contentType, line) => {
  const hungUp = Promise.withResolvers<void>()
  const old = createServer((_request, response) => {
    response.writeHead(200, {
      'content-type': contentType,
      'x-vercel-ai-ui-message-stream': 'v1',
    })
    let index = 0
    const timer = setInterval(() => response.write(line(index++)), 1)
    response.on('close', () => {
      clearInterval(timer)
      hungUp.resolve()
    })
  })
  await new Promise<void>((resolve) => {
    old.listen(0, '127.0.0.1', resolve)
  })
  const { port } = old.address() as AddressInfo
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0, maxTextChars: 500 })
  const proxy = createRecordingProxy(holdfast, { target: new URL(`http://127.0.0.1:${port}/`) })
  const server = await listen(proxy, { port: 0, host: '127.0.0.1' })
  onTestFinished(async () => {
    old.closeAllConnections()
    old.close()
    await server.close()
    await holdfast.close()
  })
  const response = await fetch(`${server.url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 't',
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }),
  })
  const body = await response.text()
  expect(body).toContain('limit of 500 characters of text')
  expect(body).toContain('[DONE]')
  await hungUp.promise
})

const events = { 'content-type': 'text/event-stream' }
const begun =
  'data: {"type":"text-start","id":"1"}\n\ndata: {"type":"text-delta","id":"1","delta":"So"}\n\n'

it.each([
  ['never answers', () => undefined],
  ['stalls in mid-answer', (response) => response.writeHead(200, events).write(begun)],
  ['stalls in a refusal', (response) => response.writeHead(400).write('no')],
] as readonly (readonly [string, (response: ServerResponse) => unknown])[])(
  '[ST1 RS4] a backend that %s is hung up on when the answer is stopped',
  async (_, respond) => {
    const asked = Promise.withResolvers<void>()
    const hungUp = Promise.withResolvers<void>()
    const old = createServer((_request, response) => {
      response.on('close', hungUp.resolve)
      respond(response)
      asked.resolve()
    })
    await new Promise<void>((resolve) => {
      old.listen(0, '127.0.0.1', resolve)
    })
    const { port } = old.address() as AddressInfo
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
    onTestFinished(async () => {
      old.closeAllConnections()
      old.close()
      await holdfast.close()
    })
    const proxy = createRecordingProxy(holdfast, {
      target: new URL(`http://127.0.0.1:${port}/`),
      authenticate: () => ({ id: 'me' }),
    })
    const answered = proxy(chatRequest()).then((response) => response.text())
    await asked.promise
    expect(await holdfast.stop(parseThreadId(threadId))).toMatchObject({ kind: 'stopped' })
    await answered
    await hungUp.promise
  },
)

it('[CL12 ST4a] a backend that stays open after its end is hung up on', async () => {
  const cancelled = Promise.withResolvers<void>()
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/'),
    authenticate: () => ({ id: 'me' }),
    fetch: async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(Buffer.from(`${begun}data: [DONE]\n\n`)),
          cancel: () => cancelled.resolve(),
        }),
      ),
  })
  await (await proxy(chatRequest())).text()
  await cancelled.promise
})

const threadId = 'thread-0123456789abcdef'
const chatRequest = () =>
  new Request('http://127.0.0.1/api/chat', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: threadId,
      messages: [{ id: 'u1', role: 'user', parts: [{ type: 'text', text: 'go' }] }],
    }),
  })

it.each([
  ['a line', 'data: ', 'x'.repeat(1_000)],
  ['an event of many lines', '', 'data: x\n'.repeat(100)],
  ['an event of many lines and comments', '', 'data: x\r\n: still here\r\n'.repeat(50)],
  ['a comment', ': ', 'x'.repeat(1_000)],
  ['a line of an old backend', '0:"', 'x'.repeat(1_000)],
])('[OP7 RS4] %s that never ends is not read to the end of memory', async (_, first, rest) => {
  const cancelled = Promise.withResolvers<void>()
  let bytes = 0
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/'),
    authenticate: () => ({ id: 'me' }),
    limits: { importBytes: 100_000 },
    fetch: async () =>
      new Response(
        new ReadableStream<Uint8Array>({
          pull(controller) {
            const piece = Buffer.from(bytes === 0 ? first + rest : rest)
            bytes += piece.byteLength
            controller.enqueue(piece)
            if (bytes > 10_000_000) controller.error(new Error('It was never cancelled.'))
          },
          cancel: () => cancelled.resolve(),
        }),
      ),
  })
  const response = await proxy(chatRequest())
  expect(await response.text()).toMatch(/The backend sent an? \w+ of over 100,000 characters/)
  await cancelled.promise
  expect(bytes).toBeLessThan(200_000)
})

const keys = (count: number) => Array.from({ length: count }, (_, key) => `"k${key}":1`).join()
const tooMuch: Readonly<Record<string, readonly [json: string, reason: string]>> = {
  'too many keys': [`{${keys(30_000)}}`, 'more than 25,000 different keys'],
  'too many values': [`[${'1,'.repeat(500_000)}1]`, 'more than 500,000 values inside'],
  'too many levels': [
    `${'['.repeat(50_000)}${']'.repeat(50_000)}`,
    'nested deeper than 1,000 levels',
  ],
  'too many characters': [`"${'x'.repeat(40_000_000)}"`, 'of over 33,554,432 characters'],
}
const counted = Array.from({ length: 300 }, (_, nth) => `<${nth}>`)
const protocols: Readonly<Record<string, (json: string) => string>> = {
  'an event': (json) =>
    [
      begun,
      ...counted.map((delta) => `data: {"type":"text-delta","id":"1","delta":"${delta}"}\n\n`),
      'data: {"type":"tool-input-available","toolCallId":"c","toolName":"t","input":{}}\n\n',
      `data: {"type":"tool-output-available","toolCallId":"c","output":${json}}\n\n`,
    ].join(''),
  'a line': (json) =>
    `0:"So"\n${counted.map((delta) => `0:"${delta}"\n`).join('')}` +
    `9:{"toolCallId":"c","toolName":"t","args":{}}\na:{"toolCallId":"c","result":${json}}\n`,
}
it.each(
  Object.entries(protocols).flatMap(([what, write]) =>
    Object.entries(tooMuch).map(([of, [json, reason]]) => [what, of, write(json), reason] as const),
  ),
)(
  '[OP7 CL6b RS4] %s with %s is never parsed, and the answer before it is kept',
  async (what, _, body, reason) => {
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
    onTestFinished(() => holdfast.close())
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    const proxy = createRecordingProxy(holdfast, {
      target: new URL('http://127.0.0.1:1/'),
      authenticate: () => ({ id: 'me' }),
      fetch: async () => new Response(body),
    })
    const shown = await (await proxy(chatRequest())).text()
    expect(shown).toContain(`The backend sent ${what} `)
    expect(shown).toContain(reason)
    const longest = Math.max(...parse.mock.calls.map(([text]) => String(text).length))
    expect(longest).toBeLessThan(10_000)
    const page = JSON.stringify(await holdfast.messages(threadId))
    expect(page).toContain(`"text":"So${counted.join('')}"`)
    expect(page).toContain('"toolCallId"')
    expect(page).toContain('"status":"failed"')
  },
)

it('[OP7 RS4] any number of events may be longer together than one may be', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const text = { type: 'text-delta', id: '1', delta: 'all work and no play ' }
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/'),
    authenticate: () => ({ id: 'me' }),
    limits: { importBytes: 1_000 },
    fetch: async () => new Response(`data: ${JSON.stringify(text)}\n\n`.repeat(1_000)),
  })
  const response = await proxy(chatRequest())
  await response.text()
  const page = await holdfast.messages(threadId)
  expect(JSON.stringify(page)).toContain('all work and no play '.repeat(1_000))
})

it('[HT6 RS4] where a backend redirects to is not shown to clients', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const location = 'http://sso.internal.corp/login?token=secret'
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/'),
    authenticate: () => ({ id: 'me' }),
    fetch: async () => new Response(null, { status: 302, headers: { location } }),
  })
  const shown = await (await proxy(chatRequest())).text()
  expect(shown).toContain('The backend responded with 302.')
  expect(shown + JSON.stringify(await holdfast.messages(threadId))).not.toContain('sso.internal')
})

it('[RS4] each cookie of a refusal reaches the client by itself', async () => {
  const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
  onTestFinished(() => holdfast.close())
  const cookies = ['a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT', 'b=2']
  const headers = new Headers(cookies.map((cookie): [string, string] => ['set-cookie', cookie]))
  const proxy = createRecordingProxy(holdfast, {
    target: new URL('http://127.0.0.1:1/'),
    authenticate: () => ({ id: 'me' }),
    fetch: async () => new Response('Sign in.', { status: 401, headers }),
  })
  const response = await proxy(chatRequest())
  expect(response.status).toBe(401)
  expect(response.headers.getSetCookie()).toEqual(cookies)
})

it.each([['""'], ['" "'], ['null'], ['{"code":1}']])(
  '[ST3a RS4] an error of a backend with %s as its words is shown in words',
  async (words) => {
    const holdfast = createHoldfast({ store: memory(), recoverEveryMs: 0 })
    onTestFinished(() => holdfast.close())
    const proxy = createRecordingProxy(holdfast, {
      target: new URL('http://127.0.0.1:1/'),
      authenticate: () => ({ id: 'me' }),
      fetch: async () => new Response(`${begun}data: {"type":"error","errorText":${words}}\n\n`),
    })
    const shown = await (await proxy(chatRequest())).text()
    expect(shown).toContain('The model failed. (No reason was given.)')
  },
)
