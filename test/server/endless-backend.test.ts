import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHoldfast, memory } from 'holdfast'
import { createRecordingProxy, listen } from 'holdfast/server'
import { expect, it, onTestFinished } from 'vitest'

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
