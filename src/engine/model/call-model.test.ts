import {
  dynamicTool,
  experimental_streamLanguageModelCall,
  jsonSchema,
  type LanguageModel,
  tool,
  type ToolSet,
} from 'ai'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { callModel, type CallSettings } from './call-model.ts'
import { systemClock } from '../clock.ts'
import { createFileLoader } from '../files/file-loader.ts'
import { createHostPatience } from '../run/host-patience.ts'
import type { ModelPart, ProviderPart } from './model-part.ts'
import { forceSdkPath, probe } from './sdk-layer.ts'

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 2, text: 2, reasoning: undefined },
}
const end: ProviderPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage,
  providerMetadata: { p: { end: 1 } },
}
const start: ProviderPart = { type: 'stream-start', warnings: [] }

const streamOf = <Item>(items: readonly Item[]): ReadableStream<Item> =>
  new ReadableStream({
    start(controller) {
      for (const item of items) controller.enqueue(item)
      controller.close()
    },
  })

function modelOf(parts: readonly ProviderPart[]): Model {
  return {
    specificationVersion: 'v4',
    provider: 'test.chat',
    modelId: 'test',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('not asked for')),
    doStream: async () => ({ stream: streamOf(parts) }),
  }
}

const tools: ToolSet = {
  look: tool({ inputSchema: z.object({ q: z.string().trim() }), title: 'Look' }),
  loose: dynamicTool({ inputSchema: jsonSchema({}), execute: () => 1 }),
  tagged: tool({ inputSchema: z.object({}), metadata: { icon: 'x' } }),
}
const messages = [{ role: 'user' as const, content: 'hi' }]

async function ours(model: LanguageModel, settings: CallSettings): Promise<readonly ModelPart[]> {
  const taken: ModelPart[] = []
  const { signal } = new AbortController()
  const files = createFileLoader(systemClock, signal)
  const call = {
    model,
    instructions: undefined,
    messages,
    tools,
    toolsContext: {},
    settings,
    signal,
    files,
    patience: createHostPatience(systemClock, signal),
  }
  const onPart = (part: ModelPart) => {
    taken.push(part)
    return 'more' as const
  }
  await callModel(call, onPart, systemClock)
  return taken
}

async function theirs(model: LanguageModel, settings: CallSettings): Promise<readonly ModelPart[]> {
  const { stream } = await experimental_streamLanguageModelCall({
    ...settings,
    model,
    messages,
    tools,
    allowSystemInMessages: true,
  })
  return Array.fromAsync(stream)
}

/** The parts without what differs from call to call, and errors by their text. */
const comparable = (parts: readonly ModelPart[]): readonly unknown[] => {
  const text = JSON.stringify(parts, (key, value: unknown) => {
    if (key === 'performance') return undefined
    return value instanceof Error ? `${value.name}: ${value.message}` : value
  })
  return JSON.parse(text) as readonly unknown[]
}

const call = (input: string, toolName = 'look', more: object = {}): ProviderPart => ({
  type: 'tool-call',
  toolCallId: 'c',
  toolName,
  input,
  ...more,
})
const metadata = { providerMetadata: { p: { a: 1 } } }

const streams: Readonly<Record<string, readonly ProviderPart[]>> = {
  'text and reasoning': [
    { type: 'response-metadata', id: 'r', modelId: 'other', timestamp: new Date(0) },
    { type: 'reasoning-start', id: '0', ...metadata },
    { type: 'reasoning-delta', id: '0', delta: 'hm' },
    { type: 'reasoning-delta', id: '0', delta: '', ...metadata },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: 'Hello', ...metadata },
    { type: 'text-delta', id: '1', delta: '' },
    { type: 'text-end', id: '1' },
  ],
  'arguments in pieces': [
    { type: 'tool-input-start', id: 'c', toolName: 'look', ...metadata },
    { type: 'tool-input-delta', id: 'c', delta: '{"q"' },
    { type: 'tool-input-delta', id: 'c', delta: ':" a "}' },
    { type: 'tool-input-end', id: 'c' },
    call('{"q":" a "}', 'look', metadata),
  ],
  'tools with a word of their own': [
    { type: 'tool-input-start', id: 'c', toolName: 'tagged' },
    call('{}', 'tagged'),
    { type: 'tool-input-start', id: 'd', toolName: 'loose' },
    call('[1,2]', 'loose'),
    { type: 'tool-input-start', id: 'e', toolName: 'nowhere', dynamic: true },
  ],
  'no arguments': [call('', 'tagged'), call('  ', 'look'), call('null', 'loose')],
  'arguments that do not fit': [call('{"q":1}'), call('{"q"'), call('{"q":"a","b":'), call('"x"')],
  'keys that give another prototype': [
    call('{"q":"a","__proto__":{"x":1}}'),
    call('{"q":"a","constructor":{"prototype":{}}}'),
    call('{"q":"a","\\u005f_proto__":1}'),
    call('{"q":"\\u00e9"}'),
    call('{"q":"constructor"}'),
  ],
  'a tool that is not there': [
    call('{}', 'nowhere'),
    call('{}', 'constructor'),
    call('{"q"', 'gone'),
  ],
  "the provider's own tools": [
    call('{"q":"a"}', 'web', { providerExecuted: true, dynamic: true }),
    { type: 'tool-result', toolCallId: 'c', toolName: 'web', result: { hits: 1 }, dynamic: true },
    call('{"q":"b"}', 'look', { providerExecuted: true }),
    { type: 'tool-result', toolCallId: 'c', toolName: 'look', result: 'bad', isError: true },
  ],
  'files, sources and the rest': [
    { type: 'file', mediaType: 'text/plain', data: { type: 'data', data: 'aGk=' } },
    { type: 'source', sourceType: 'url', id: 's', url: 'https://a.test', title: 'A' },
    { type: 'raw', rawValue: { any: 1 } },
  ],
  'ends of all kinds': [
    { ...end, finishReason: { unified: 'length', raw: undefined } },
    {
      ...end,
      usage: {
        inputTokens: { total: 9, noCache: 4, cacheRead: 3, cacheWrite: 2 },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
        raw: { prompt_tokens: 9 },
      },
    },
    {
      ...end,
      usage: {
        inputTokens: {
          total: undefined,
          noCache: undefined,
          cacheRead: undefined,
          cacheWrite: undefined,
        },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
    },
  ],
  'an error in the middle': [
    { type: 'text-start', id: '1' },
    { type: 'error', error: { message: 'slow down', type: 'rate_limit_error', code: 429 } },
    { type: 'error', error: new Error('plain') },
  ],
}

const choices: readonly CallSettings[] = [
  {},
  { toolChoice: 'auto' },
  { toolChoice: 'none' },
  { toolChoice: 'required' },
  { toolChoice: { type: 'tool', toolName: 'tagged' } },
]

// Both paths through the SDK give the same: its single-call layer, and one step of `streamText` (AG9).
describe.each(['found', 'public'] as const)('on the %s path', (path) => {
  beforeAll(() => forceSdkPath(path))
  afterAll(() => forceSdkPath('found'))

  describe('a model call returns what the SDK returns', () => {
    for (const [name, parts] of Object.entries(streams)) {
      test(`[CL5 CL6] ${name}`, async () => {
        for (const settings of choices) {
          const model = modelOf([start, ...parts, end])
          const expected = comparable(await theirs(model, settings))
          expect(comparable(await ours(model, settings))).toEqual(expected)
          expect(expected).not.toEqual([])
        }
      })
    }
  })

  test('[CL6] an end without usage is an error, as in the SDK', async () => {
    for (const odd of [undefined, null, {}, { inputTokens: {} }]) {
      const model = modelOf([start, { ...end, usage: odd as never }])
      const [expected, found] = await Promise.allSettled([theirs(model, {}), ours(model, {})])
      expect(expected.status).toBe('rejected')
      expect(found).toEqual(expected)
    }
  })

  describe('a model is resolved', () => {
    afterEach(() => {
      globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
      globalThis.AI_SDK_LOG_WARNINGS = undefined
    })

    test('by its name, from the provider that the host has set', async () => {
      const model = modelOf([start, ...(streams['text and reasoning'] ?? []), end])
      const resolved: string[] = []
      globalThis.AI_SDK_DEFAULT_PROVIDER = {
        specificationVersion: 'v4',
        languageModel: (id: string) => {
          resolved.push(id)
          return model
        },
        embeddingModel: () => {
          throw new Error('not asked for')
        },
        imageModel: () => {
          throw new Error('not asked for')
        },
      }
      expect(comparable(await ours('some/model', {}))).toEqual(comparable(await ours(model, {})))
      expect(resolved).toEqual(['some/model'])
    })

    test('in an old version, and refused in an unknown one', async () => {
      const old = {
        specificationVersion: 'v2',
        provider: 'test',
        modelId: 'old',
        supportedUrls: {},
        doGenerate: () => Promise.reject(new Error('not asked for')),
        doStream: async () => ({
          stream: streamOf([
            { type: 'stream-start', warnings: [] },
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: 'old' },
            { type: 'text-end', id: '1' },
            { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: '{"q":"a"}' },
            {
              type: 'finish',
              finishReason: 'stop',
              usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
            },
          ]),
        }),
      } as unknown as LanguageModel
      globalThis.AI_SDK_LOG_WARNINGS = false
      const expected = comparable(await theirs(old, {}))
      expect(expected).toHaveLength(6)
      expect(comparable(await ours(old, {}))).toEqual(expected)
      const odd = { ...(old as object), specificationVersion: 'v9' } as unknown as LanguageModel
      await expect(theirs(odd, {})).rejects.toThrow('Unsupported model version')
      await expect(ours(odd, {})).rejects.toThrow('Unsupported model version')
    })
  })

  test('[ST1] the stream of the provider is cancelled when no more parts are wanted', async () => {
    let cancelled = false
    const model: Model = {
      ...modelOf([]),
      doStream: async () => ({
        stream: new ReadableStream<ProviderPart>({
          pull: (controller) => controller.enqueue({ type: 'text-start', id: '1' }),
          cancel: () => {
            cancelled = true
          },
        }),
      }),
    }
    const { signal } = new AbortController()
    const files = createFileLoader(systemClock, signal)
    let taken = 0
    const base = { model, instructions: undefined, messages, tools, toolsContext: {} }
    const patience = createHostPatience(systemClock, signal)
    const call = { ...base, settings: {}, signal, files, patience }
    await callModel(call, () => (++taken < 3 ? 'more' : 'enough'), systemClock)
    expect([taken, cancelled]).toEqual([3, true])
  })
})

describe('which path', () => {
  test('[AG9] the single-call layer of the installed SDK is known', async () => {
    expect(await probe(experimental_streamLanguageModelCall)).toBe(
      experimental_streamLanguageModelCall,
    )
  })

  const others: Readonly<Record<string, unknown>> = {
    'is not there': undefined,
    'is no function': { stream: [] },
    throws: () => {
      throw new Error('renamed')
    },
    'gives nothing': async () => undefined,
    'gives no stream': async () => ({ parts: [] }),
    'never calls the model': async () => ({ stream: streamOf([]) }),
    'says other things': async () => ({
      stream: streamOf([{ type: 'chunk' }, { type: 'chunk' }, { type: 'chunk' }, { type: 'end' }]),
    }),
    'drops raw chunks': async (
      options: Parameters<typeof experimental_streamLanguageModelCall>[0],
    ) => {
      const { stream } = await experimental_streamLanguageModelCall(options)
      const parts = await Array.fromAsync(stream)
      return { stream: streamOf(parts.filter(({ type }) => type !== 'raw')) }
    },
  }
  for (const [name, other] of Object.entries(others)) {
    test(`[AG9] one that ${name} is not used`, async () => {
      expect(await probe(other)).toBeUndefined()
    })
  }
})
