import { context, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import * as conventions from '@opentelemetry/semantic-conventions/incubating'
import { tool } from 'ai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { type ScriptPart, scriptedModel } from '../../testing/scripted-model.ts'
import { combineHooks } from './combine-hooks.ts'
import { createHoldfast, type Holdfast } from '../create-holdfast.ts'
import { toProviderName } from './gen-ai-attributes.ts'
import type { LifecycleEvent } from './hooks.ts'
import { type TraceOptions, traceHooks } from './tracing.ts'

let exporter = new InMemorySpanExporter()
/** In the order in which they ended. */
const spans = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
const spanOf = (name: string): ReadableSpan | undefined =>
  spans().find((span) => span.name === name)
const parentOf = ({ parentSpanContext }: ReadableSpan): string | undefined =>
  spans().find((span) => span.spanContext().spanId === parentSpanContext?.spanId)?.name

const good = tool({
  inputSchema: z.object({ q: z.string() }),
  execute() {
    trace.getTracer('host').startSpan('inside the tool').end()
    return 'secret result'
  },
})
const bad = tool({
  inputSchema: z.object({}),
  execute: (): Promise<string> => Promise.reject(new Error('secret failure')),
})
const threadId = parseThreadId('thread-1')
const message = {
  id: parseMessageId('u1'),
  parts: [{ type: 'text', text: 'secret question' } as const],
}

interface Asking extends TraceOptions {
  readonly approval?: boolean
  readonly store?: Store
}

async function open(script: (index: number) => readonly ScriptPart[], how: Asking = {}) {
  const { approval = false, store = memory(), ...traced } = how
  const log: LifecycleEvent[] = []
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) => script(index)),
    tools: { good, bad },
    policies: approval ? { good: { approval: 'always' } } : {},
    hooks: combineHooks((event) => log.push(event), await traceHooks(traced)),
    recoverEveryMs: 0,
    retryDelayMs: 1,
  })
  return { holdfast, log, store }
}

async function createAndSend(holdfast: Holdfast, store: Store): Promise<void> {
  await store.createThread({ id: threadId, ownerId: parseOwnerId('me'), title: '', at: 1 })
  await holdfast.send({ threadId, message })
}

async function traceOneTurn(script: (index: number) => readonly ScriptPart[], how: Asking = {}) {
  const { holdfast, store, log } = await open(script, how)
  await createAndSend(holdfast, store)
  await holdfast.settled()
  await holdfast.close()
  return log
}

const twoSteps = (index: number): readonly ScriptPart[] =>
  index === 0
    ? [{ text: 'secret' }, { call: 'good', input: { q: 'secret' } }, { call: 'bad', input: {} }]
    : [{ text: 'secret answer' }]

describe('traceHooks', () => {
  beforeEach(() => {
    exporter = new InMemorySpanExporter()
    context.setGlobalContextManager(new AsyncLocalStorageContextManager())
    trace.setGlobalTracerProvider(
      new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] }),
    )
  })
  afterEach(() => {
    trace.disable()
    context.disable()
  })

  it('[AG4a] makes a span of each turn, step and call, each inside its turn, without content', async () => {
    await traceOneTurn(twoSteps, { agentName: 'helper' })
    const agent = spanOf('invoke_agent helper')
    expect(agent).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': 'helper',
        'gen_ai.conversation.id': 'thread-1',
        'gen_ai.provider.name': 'scripted',
        'user.id': 'me',
        'holdfast.turn.start': 'sent',
        'holdfast.turn.ending': 'completed',
      },
      status: { code: SpanStatusCode.UNSET },
    })
    const chats = spans().filter(({ name }) => name === 'chat scripted')
    expect(chats).toMatchObject([
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': 'scripted',
          'gen_ai.request.stream': true,
          'gen_ai.conversation.id': 'thread-1',
          'gen_ai.response.finish_reasons': ['tool_call'],
        },
      },
      { attributes: { 'gen_ai.response.finish_reasons': ['stop'] } },
    ])
    expect(chats[0]?.attributes['gen_ai.usage.input_tokens']).toBeTypeOf('number')
    expect(spanOf('execute_tool good')).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'good',
        'gen_ai.tool.type': 'function',
        'holdfast.call.state': 'succeeded',
      },
    })
    expect(spanOf('execute_tool bad')).toMatchObject({
      attributes: { 'error.type': 'tool-failed' },
      status: { code: SpanStatusCode.ERROR },
    })
    for (const name of ['chat scripted', 'execute_tool good', 'execute_tool bad']) {
      const span = spanOf(name)
      expect([name, span && parentOf(span)]).toEqual([name, 'invoke_agent helper'])
    }
    const within = spanOf('inside the tool')
    expect(within && parentOf(within)).toBe('execute_tool good')
    expect(JSON.stringify(spans().map((span) => span.attributes))).not.toContain('secret')
  })

  it('[AG4a] records content only with the option', async () => {
    await traceOneTurn(twoSteps, { content: true })
    const read = (name: string, attribute: string): unknown =>
      JSON.parse(String(spanOf(name)?.attributes[attribute]))
    expect(read('chat scripted', 'gen_ai.input.messages')).toEqual([
      { role: 'user', parts: [{ type: 'text', content: 'secret question' }] },
    ])
    expect(read('chat scripted', 'gen_ai.output.messages')).toMatchObject([
      {
        role: 'assistant',
        parts: [
          { type: 'text', content: 'secret' },
          { type: 'tool_call', name: 'good', arguments: { q: 'secret' } },
          { type: 'tool_call', name: 'bad' },
        ],
        finish_reason: 'tool_call',
      },
    ])
    expect(read('execute_tool good', 'gen_ai.tool.call.arguments')).toEqual({ q: 'secret' })
    expect(read('execute_tool good', 'gen_ai.tool.call.result')).toBe('secret result')
  })

  it('[AG4a] uses no attribute of the conventions that they do not have', async () => {
    await traceOneTurn(twoSteps, { content: true, agentName: 'helper' })
    const known = new Set<unknown>(Object.values(conventions))
    const used = new Set(spans().flatMap(({ attributes }) => Object.keys(attributes)))
    const foreign = [...used].filter((name) => !name.startsWith('holdfast.') && !known.has(name))
    expect(foreign).toEqual([])
    expect(used.size).toBeGreaterThan(15)
    for (const provider of [
      'openai.responses',
      'anthropic.messages',
      'google.vertex.chat',
      'xai',
    ]) {
      expect(known).toContain(toProviderName(provider))
    }
  })

  it('[AG4a] marks failures with their code, and records retries', async () => {
    const busy = Object.assign(new Error('secret words'), { statusCode: 429 })
    await traceOneTurn(() => [{ fails: busy }])
    expect(spanOf('invoke_agent')).toMatchObject({
      attributes: { 'holdfast.turn.ending': 'failed', 'error.type': 'rate-limited' },
      status: { code: SpanStatusCode.ERROR, message: 'rate-limited' },
      events: [{ name: 'holdfast.model_retried' }, { name: 'holdfast.model_retried' }],
    })
    expect(spanOf('chat scripted')).toMatchObject({
      attributes: { 'gen_ai.response.finish_reasons': ['error'] },
      status: { code: SpanStatusCode.ERROR },
    })
  })

  it('[AG4a] continues the trace in which the turn began, on whichever server, linked to it', async () => {
    const store = memory()
    const first = await open(() => [{ call: 'good', input: { q: 'x' } }], { approval: true, store })
    await createAndSend(first.holdfast, store)
    await first.holdfast.settled()
    await first.holdfast.close()
    const waited = spanOf('invoke_agent')
    expect(waited?.attributes['holdfast.turn.waiting_for']).toBe('approval')
    exporter.reset()
    const second = await open(() => [{ text: 'done' }], { store })
    const page = await store.readPage({
      threadId,
      limit: 1,
      before: null,
      live: 'include',
      results: 'full',
    })
    const [turn] = page?.messages ?? []
    const call = turn?.role === 'assistant' ? turn.steps[0]?.parts.at(-1) : undefined
    if (call?.type !== 'call') throw new Error('no call')
    const decision = { callId: call.id, decision: 'accept' } as const
    const request = trace.getTracer('host').startSpan('request')
    await context.with(trace.setSpan(context.active(), request), () =>
      second.holdfast.decide({ threadId, by: 'me', decisions: [decision] }),
    )
    await second.holdfast.settled()
    await second.holdfast.close()
    const resumed = spanOf('invoke_agent')
    expect(resumed?.attributes['holdfast.turn.start']).toBe('resumed')
    expect(resumed?.spanContext().traceId).toBe(waited?.spanContext().traceId)
    expect(resumed?.parentSpanContext?.spanId).toBe(waited?.spanContext().spanId)
    expect(resumed?.links.map((link) => link.context.spanId)).toEqual([
      waited?.spanContext().spanId,
      request.spanContext().spanId,
    ])
  })

  it('[AG4a] exports no span of a turn that was not stored', async () => {
    const { holdfast, store } = await open(() => [{ waitMs: 60_000 }])
    await createAndSend(holdfast, store)
    const again = await holdfast.send({
      threadId,
      message: { ...message, id: parseMessageId('u2') },
      whenBusy: 'reject',
    })
    expect(again.kind).toBe('run-active')
    await holdfast.close()
    expect(
      spans().map(({ name, attributes }) => [name, attributes['holdfast.turn.ending']]),
    ).toEqual([
      ['chat scripted', undefined],
      ['invoke_agent', 'handed-over'],
    ])
  })

  it('does nothing where the API is not installed', async () => {
    vi.doMock('@opentelemetry/api', () => {
      throw new Error('not installed')
    })
    const log = await traceOneTurn(() => [{ text: 'hi' }])
    vi.doUnmock('@opentelemetry/api')
    expect(spans()).toEqual([])
    expect(log.map(({ type }) => type).filter((type) => type !== 'committed')).toEqual([
      'turn-started',
      'step-started',
      'step-ended',
      'turn-ended',
    ])
  })
})

describe('combineHooks', () => {
  it('calls every listener, whatever one of them does', () => {
    const heard: string[] = []
    const hooks = combineHooks(
      () => {
        throw new Error('broken log')
      },
      undefined,
      ({ type }) => heard.push(type),
    )
    hooks({ type: 'committed', appends: 1, events: 1, ms: 1 })
    expect(heard).toEqual(['committed'])
  })
})
