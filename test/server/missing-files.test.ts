import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { APICallError, type LanguageModel, tool } from 'ai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type ChatServer, startChatServer } from './chat-server.ts'

async function fileServer(): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(404)
    response.end('gone')
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/photo.png`
}

async function say({ url }: ChatServer, id: string, file?: string): Promise<string> {
  const parts = [
    { type: 'text', text: `This is ${id}.` },
    ...(file === undefined
      ? []
      : [{ type: 'file', mediaType: 'image/png', filename: 'photo.png', url: file }]),
  ]
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 't', messages: [{ id, role: 'user', parts }] }),
  })
  return response.text()
}

/** Fetches images itself, and refuses what it cannot fetch as providers do. */
const fetchingItself = (model: LanguageModel): LanguageModel => {
  if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('not v4')
  return {
    ...model,
    supportedUrls: { 'image/*': [/^https?:/] },
    doStream(options: Parameters<typeof model.doStream>[0]) {
      const sent = JSON.stringify(options.prompt)
      if (sent.includes('"type":"url"')) {
        throw new APICallError({
          message: 'Error while downloading the image.',
          url: 'https://model.example',
          requestBodyValues: {},
          statusCode: 400,
          responseBody: '{"error":{"message":"Unable to download the image."}}',
        })
      }
      return model.doStream(options)
    },
  }
}

describe('a file that cannot be had', () => {
  it.each([
    ['that is not allowed', fileServer],
    [
      'of a host that is not there',
      async () => Promise.resolve('https://no-such-host.invalid/photo.png'),
    ],
    ['at an address that is none', async () => Promise.resolve('https://[not/photo.png')],
    ['whose bytes are not base64', async () => Promise.resolve('data:image/png;base64,@@@@')],
    ['without any bytes', async () => Promise.resolve('data:image/png;base64,')],
  ])(
    '[ST3b] %s is words for the model, in its own turn and in every later one',
    async (_, file) => {
      const server = await startChatServer(() => [{ text: 'Fine.' }], { modelRetries: 0 })
      expect(await say(server, 'u1', await file())).toContain('Fine.')
      expect(await say(server, 'u2')).toContain('Fine.')
      for (const { prompt } of server.calls) {
        const told = JSON.stringify(prompt)
        expect(told).toMatch(/photo\.png.{0,40}(could not be loaded|cannot be read)/)
        expect(told).toContain('This is u1.')
      }
    },
  )

  it('[ST3b] by the provider is words for the model as well', async () => {
    const server = await startChatServer(() => [{ text: 'Fine.' }], {
      modelRetries: 0,
      wrapModel: fetchingItself,
    })
    expect(await say(server, 'u1', 'https://example.com/photo.png')).toContain('Fine.')
    expect(await say(server, 'u2')).toContain('Fine.')
    expect(JSON.stringify(server.calls.at(-1)?.prompt)).toContain(
      '[photo.png (image/png) could not be loaded]',
    )
  })

  it('[ST3b] of a tool’s result is words for the model as well', async () => {
    const look = tool({
      inputSchema: z.object({}),
      execute: () => 'a picture',
      toModelOutput: () => ({
        type: 'content' as const,
        value: [
          { type: 'text' as const, text: 'Here it is.' },
          { type: 'image-url' as const, url: 'https://no-such-host.invalid/a.png' },
        ],
      }),
    })
    const server = await startChatServer(
      (_text, step) => (step === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Fine.' }]),
      { tools: { look }, modelRetries: 0 },
    )
    expect(await say(server, 'u1')).toContain('Fine.')
    expect(JSON.stringify(server.calls.at(-1)?.prompt)).toContain('could not be loaded')
  })
})
