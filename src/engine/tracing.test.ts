import {
  type Attributes,
  context,
  type Context,
  type Span,
  type SpanStatus,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api'
import { tool } from 'ai'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import { memory } from '../store/memory/memory-store.ts'
import { type ScriptPart, scriptedModel } from '../testing/scripted-model.ts'
import { combineHooks } from './combine-hooks.ts'
import { createHoldfast } from './create-holdfast.ts'
import type { LifecycleEvent } from './hooks.ts'
import { traceHooks } from './tracing.ts'

interface Traced {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Attributes
  readonly events: string[]
  status: SpanStatus | undefined
  ended: number
}

/** As much of a tracer as the API needs to believe in one. */
function fakeTracing(): { readonly provider: TracerProvider; readonly spans: readonly Traced[] } {
  const spans: Traced[] = []
  const named = new WeakMap<Span, Traced>()
  const startSpan = (name: string, options?: { attributes?: Attributes }, parent?: Context) => {
    const above = parent === undefined ? undefined : trace.getSpan(parent)
    const traced: Traced = {
      name,
      parent: above === undefined ? undefined : named.get(above)?.name,
      attributes: { ...options?.attributes },
      events: [],
      status: undefined,
      ended: 0,
    }
    const span: Span = {
      spanContext: () => ({ traceId: '1', spanId: `${spans.length}`, traceFlags: 1 }),
      setAttribute: (key, value) => {
        traced.attributes[key] = value
        return span
      },
      setAttributes: (more) => {
        Object.assign(traced.attributes, more)
        return span
      },
      addEvent: (event) => {
        traced.events.push(event)
        return span
      },
      setStatus: (status) => {
        traced.status = status
        return span
      },
      end: () => void traced.ended++,
      addLink: () => span,
      addLinks: () => span,
      updateName: () => span,
      isRecording: () => true,
      recordException: () => {},
    }
    named.set(span, traced)
    spans.push(traced)
    return span
  }
  const startActiveSpan = () => {
    throw new Error('The engine has no place to be active in.')
  }
  return { spans, provider: { getTracer: () => ({ startSpan, startActiveSpan }) } }
}

const good = tool({ inputSchema: z.object({}), execute: () => 'secret result' })
const bad = tool({
  inputSchema: z.object({}),
  execute: (): Promise<string> => Promise.reject(new Error('secret failure')),
})

async function ask(
  script: (index: number) => readonly ScriptPart[],
  { approval = false, wait = true } = {},
) {
  const hooks = await traceHooks()
  const log: LifecycleEvent[] = []
  const store = memory()
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ index }) => script(index)),
    tools: { good, bad },
    policies: approval ? { good: { approval: 'always' } } : {},
    hooks: combineHooks(hooks, (event) => log.push(event)),
    recoverEveryMs: 0,
    retryDelayMs: 1,
  })
  const threadId = parseThreadId('thread-1')
  await store.createThread({ id: threadId, ownerId: parseOwnerId('me'), title: '', at: 1 })
  await holdfast.send({
    threadId,
    message: { id: parseMessageId('u1'), parts: [{ type: 'text', text: 'secret question' }] },
  })
  if (wait) await holdfast.settled()
  await holdfast.close()
  return log
}

describe('traceHooks', () => {
  let spans: readonly Traced[] = []
  beforeEach(() => {
    const fake = fakeTracing()
    spans = fake.spans
    trace.setGlobalTracerProvider(fake.provider)
  })
  afterEach(() => {
    trace.disable()
    context.disable()
  })

  it('makes a span of each turn, step and call, each inside its turn, without content', async () => {
    await ask((index) =>
      index === 0
        ? [{ text: 'secret' }, { call: 'good', input: {} }, { call: 'bad', input: {} }]
        : [{ text: 'secret answer' }],
    )
    expect(spans).toMatchObject([
      {
        name: 'holdfast.turn',
        parent: undefined,
        attributes: {
          'holdfast.thread.id': 'thread-1',
          'holdfast.turn.start': 'sent',
          'holdfast.turn.ending': 'completed',
        },
        status: undefined,
      },
      {
        name: 'holdfast.step',
        parent: 'holdfast.turn',
        attributes: { 'holdfast.step': 0, 'holdfast.step.finish_reason': 'tool-calls' },
      },
      {
        name: 'holdfast.call',
        parent: 'holdfast.turn',
        attributes: { 'holdfast.tool.name': 'good', 'holdfast.call.state': 'succeeded' },
        status: undefined,
      },
      {
        name: 'holdfast.call',
        attributes: { 'holdfast.tool.name': 'bad', 'holdfast.call.state': 'failed' },
        status: { code: SpanStatusCode.ERROR },
      },
      {
        name: 'holdfast.step',
        attributes: { 'holdfast.step': 1, 'holdfast.step.finish_reason': 'stop' },
      },
    ])
    expect(spans.map(({ ended }) => ended)).toEqual([1, 1, 1, 1, 1])
    expect(JSON.stringify(spans)).not.toContain('secret')
  })

  it('marks what failed with its code, and tells of retries', async () => {
    const busy = Object.assign(new Error('secret words'), { statusCode: 429 })
    await ask(() => [{ fails: busy }])
    expect(spans).toMatchObject([
      {
        name: 'holdfast.turn',
        attributes: { 'holdfast.turn.ending': 'failed', 'error.type': 'rate-limited' },
        status: { code: SpanStatusCode.ERROR, message: 'rate-limited' },
        events: ['holdfast.model_retried', 'holdfast.model_retried'],
        ended: 1,
      },
      {
        name: 'holdfast.step',
        attributes: { 'holdfast.step.finish_reason': 'error' },
        status: { code: SpanStatusCode.ERROR },
        ended: 1,
      },
    ])
    expect(JSON.stringify(spans)).not.toContain('secret')
  })

  it('ends the span of a turn that waits', async () => {
    await ask(() => [{ call: 'good', input: {} }], { approval: true })
    expect(spans[0]).toMatchObject({
      attributes: { 'holdfast.turn.waiting_for': 'approval' },
      ended: 1,
    })
  })

  it('ends the spans of a turn that another process will carry on', async () => {
    await ask(() => [{ waitMs: 60_000 }], { wait: false })
    expect(spans).toMatchObject([
      { attributes: { 'holdfast.turn.ending': 'handed-over' }, status: undefined, ended: 1 },
      { attributes: { 'holdfast.step.finish_reason': 'interrupted' }, ended: 1 },
    ])
  })

  it('does nothing where the API is not installed', async () => {
    vi.doMock('@opentelemetry/api', () => {
      throw new Error('not installed')
    })
    const log = await ask(() => [{ text: 'hi' }])
    vi.doUnmock('@opentelemetry/api')
    expect(spans).toEqual([])
    expect(log.map(({ type }) => type).filter((type) => type !== 'committed')).toEqual([
      'turn-started',
      'step-started',
      'step-ended',
      'turn-ended',
    ])
  })
})

describe('combineHooks', () => {
  it('tells everyone, whatever one of them does', () => {
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
