import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  APICallError,
  type LanguageModel,
  StreamProviderError,
  tool,
  UnsupportedFunctionalityError,
} from 'ai'
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

async function sendMessage({ url }: ChatServer, id: string, file?: string): Promise<string> {
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

/**
 * A provider that fetches images itself, and throws what `refuses` returns for a prompt, or has it in its stream; `asked` has
 * the prompts.
 */
function refusing(
  refuses: (sent: string) => Error | undefined,
  where: 'thrown' | 'in its stream' = 'thrown',
) {
  const asked: string[] = []
  const wrapModel = (model: LanguageModel): LanguageModel => {
    if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('not v4')
    return {
      ...model,
      supportedUrls: { 'image/*': [/^https?:/] },
      doStream(options: Parameters<typeof model.doStream>[0]) {
        const sent = JSON.stringify(options.prompt)
        asked.push(sent)
        const error = refuses(sent)
        if (error === undefined) return model.doStream(options)
        if (where === 'thrown') throw error
        const stream = new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'stream-start', warnings: [] })
            controller.enqueue({ type: 'error', error })
            controller.close()
          },
        })
        return Promise.resolve({ stream })
      },
    }
  }
  return { asked, wrapModel }
}

const hasFile = (sent: string): boolean => /"type":"(?:file|image)/.test(sent)

const refusal = (statusCode: number, message: string) =>
  new APICallError({
    message,
    url: 'https://model.example',
    requestBodyValues: {},
    statusCode,
    responseBody: JSON.stringify({ error: { message } }),
  })

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAAFCAYAAACAcVaiAAAAEElEQVR42mNk+M9Qz0AEAAAzEQH9AJR9AAAAAElFTkSuQmCC'

async function upload({ url }: ChatServer): Promise<string> {
  const response = await fetch(`${url}/api/files`, {
    method: 'POST',
    headers: { 'content-type': 'image/png' },
    body: Buffer.from(pixel, 'base64'),
  })
  return ((await response.json()) as { readonly url: string }).url
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
      expect(await sendMessage(server, 'u1', await file())).toContain('Fine.')
      expect(await sendMessage(server, 'u2')).toContain('Fine.')
      for (const { prompt } of server.calls) {
        const told = JSON.stringify(prompt)
        expect(told).toMatch(/photo\.png.{0,40}(could not be loaded|cannot be read)/)
        expect(told).toContain('This is u1.')
      }
    },
  )

  describe.each<[how: string, file: (server: ChatServer) => Promise<string>]>([
    ['by its address', () => Promise.resolve('https://example.com/photo.png')],
    ['with its message', () => Promise.resolve(`data:image/png;base64,${pixel}`)],
    ['as an upload', upload],
  ])('given %s', (_, file) => {
    it.each([
      refusal(400, 'Error while downloading the image.'),
      refusal(400, 'Could not process image'),
      refusal(400, 'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum'),
      refusal(400, 'The image data you provided does not represent a valid image.'),
      refusal(400, 'The PDF specified was not valid.'),
      refusal(400, 'Invalid MIME type. Only image types are supported.'),
      refusal(404, 'No endpoints found that support image input'),
      refusal(413, 'Request exceeds the maximum size'),
      refusal(415, 'Unsupported Media Type'),
      refusal(422, 'Unprocessable Entity'),
      Object.assign(new Error('Bad input'), { name: 'GatewayError', statusCode: 400 }),
      new UnsupportedFunctionalityError({ functionality: 'file part media type image/png' }),
    ])('[ST3b] and refused by the provider (%s) is words for the model as well', async (error) => {
      const { asked, wrapModel } = refusing((sent) => (hasFile(sent) ? error : undefined))
      const server = await startChatServer(() => [{ text: 'Fine.' }], {
        modelRetries: 0,
        wrapModel,
      })
      expect(await sendMessage(server, 'u1', await file(server))).toContain('Fine.')
      expect(await sendMessage(server, 'u2')).toContain('Fine.')
      expect(asked).toHaveLength(4)
      for (const sent of [asked[1], asked[3]]) {
        expect(sent).toContain('[photo.png (image/png) cannot be shown to this model]')
        expect(sent).toContain('This is u1.')
      }
    })
  })

  it.each([
    refusal(400, 'Could not process image'),
    new StreamProviderError({ message: 'Could not process image', statusCode: 400 }),
    new StreamProviderError({ message: 'No.', type: 'invalid_request_error' }),
    new StreamProviderError({ message: 'No.', code: 'invalid_image_format' }),
  ])('[ST3b] and refused within the stream (%o) is words for the model as well', async (error) => {
    const { asked, wrapModel } = refusing(
      (sent) => (hasFile(sent) ? error : undefined),
      'in its stream',
    )
    const server = await startChatServer(() => [{ text: 'Fine.' }], { modelRetries: 0, wrapModel })
    expect(await sendMessage(server, 'u1', 'https://example.com/photo.png')).toContain('Fine.')
    expect(await sendMessage(server, 'u2')).toContain('Fine.')
    expect(asked.map(hasFile)).toEqual([true, false, true, false])
    expect(asked[3]).toContain('[photo.png (image/png) cannot be shown to this model]')
  })

  it('[ST3b] and is named by the provider is words, and the others are sent', async () => {
    const bad = 'https://example.com/bad.png'
    const { asked, wrapModel } = refusing((sent) =>
      sent.includes(bad) ? refusal(400, `Cannot use ${bad}.`) : undefined,
    )
    const server = await startChatServer(() => [{ text: 'Fine.' }], { modelRetries: 0, wrapModel })
    await sendMessage(server, 'u1', bad)
    expect(await sendMessage(server, 'u2', 'https://example.com/good.png')).toContain('Fine.')
    expect(asked).toHaveLength(4)
    expect(asked.at(-1)).toContain('good.png')
    expect(asked.at(-1)).not.toContain('bad.png')
  })

  it.each(['thrown', 'in its stream'] as const)(
    '[ST3b ST2] a refusal (%s) that no file is to blame for is returned after one more attempt',
    async (where) => {
      const { asked, wrapModel } = refusing(
        (sent) =>
          refusal(400, hasFile(sent) ? 'max_tokens is too large' : 'and without files as well'),
        where,
      )
      const server = await startChatServer(() => [], {
        retryDelayMs: 1,
        errorText: (_, { message }) => message,
        wrapModel,
      })
      const said = await sendMessage(server, 'u1', 'https://example.com/photo.png')
      expect(said).toContain('max_tokens is too large')
      expect(said).not.toContain('without files')
      expect(asked).toHaveLength(2)
    },
  )

  it('[ST3b AG5] a model that is tried next is sent the files that were not to blame', async () => {
    const gone = refusing(() => refusal(404, 'There is no such model.'))
    const next = refusing(() => undefined)
    const server = await startChatServer(() => [{ text: 'Fine.' }], {
      modelRetries: 0,
      wrapModel: (model) => [gone.wrapModel(model), next.wrapModel(model)] as never,
    })
    const photo = 'https://example.com/photo.png'
    expect(await sendMessage(server, 'u1', photo)).toContain('Fine.')
    expect(gone.asked).toHaveLength(2)
    expect(next.asked).toEqual([expect.stringContaining(photo)])
  })

  it.each<[what: string, value: object]>([
    ['bytes', { type: 'file', mediaType: 'image/png', data: { type: 'data', data: pixel } }],
    ['bytes as before', { type: 'image-data', mediaType: 'image/png', data: pixel }],
    [
      'an id at the provider',
      {
        type: 'file',
        mediaType: 'image/png',
        data: { type: 'reference', reference: { scripted: 'file-1' } },
      },
    ],
    ['an id as before', { type: 'image-file-id', fileId: 'file-1' }],
  ])('[ST3b] of a result, given as %s and refused, is words as well', async (_, value) => {
    const look = tool({
      inputSchema: z.object({}),
      execute: () => 'a picture',
      toModelOutput: () => ({ type: 'content', value: [value] }) as never,
    })
    const { asked, wrapModel } = refusing((sent) =>
      hasFile(sent) ? refusal(400, 'Could not process image') : undefined,
    )
    const server = await startChatServer(
      (_text, step) => (step === 0 ? [{ call: 'look', input: {} }] : [{ text: 'Fine.' }]),
      { tools: { look }, modelRetries: 0, wrapModel },
    )
    expect(await sendMessage(server, 'u1')).toContain('Fine.')
    expect(asked).toHaveLength(3)
    expect(asked.at(-1)).toContain('cannot be shown to this model]')
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
    expect(await sendMessage(server, 'u1')).toContain('Fine.')
    expect(JSON.stringify(server.calls.at(-1)?.prompt)).toContain('could not be loaded')
  })
})
