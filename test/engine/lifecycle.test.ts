import { AsyncLocalStorage } from 'node:async_hooks'
import {
  isStepCount,
  type LanguageModel,
  registerTelemetry,
  streamText,
  type Telemetry,
  tool,
  type ToolSet,
} from 'ai'
import { callsOf, type HoldfastOptions } from 'holdfast'
import { scriptedModel, type ScriptPart } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Script } from './fixture.ts'

type CallbackCall = readonly [name: string, event: Readonly<Record<string, unknown>>]

const names = [
  'onStart',
  'onStepStart',
  'onLanguageModelCallStart',
  'onLanguageModelCallEnd',
  'onToolExecutionStart',
  'onToolExecutionEnd',
  'onStepEnd',
  'onStepError',
  'onEnd',
  'onAbort',
] as const

/** Everything that callbacks, or an integration, are told. */
function listen() {
  const callbackCalls: CallbackCall[] = []
  const callbacks = Object.fromEntries(
    names.map((name) => [name, (event: CallbackCall[1]) => void callbackCalls.push([name, event])]),
  ) as Pick<Telemetry, (typeof names)[number]>
  return { callbackCalls, callbacks }
}

const tools = {
  look: tool({
    description: 'Looks.',
    inputSchema: z.object({ at: z.string() }),
    execute: ({ at }) => `saw ${at}`,
  }),
  trip: tool({
    inputSchema: z.object({}),
    execute: (): string => {
      throw new Error('It tripped.')
    },
  }),
} satisfies ToolSet

// One call in a step: which of two ends first is nobody's to say.
const steps: readonly (readonly ScriptPart[])[] = [
  [{ reasoning: 'Hm.' }, { text: 'I look.' }, { call: 'look', input: { at: 'it' } }],
  [{ call: 'trip', input: {} }],
  [{ text: 'Seen.' }],
]
const script: Script = ({ index }) => steps[index] ?? []

const context = { tenant: 't1', secret: 's' }
const shared = { instructions: 'Be kind.', temperature: 0.5, stopWhen: isStepCount(5) } as const

async function ofSdk(callbacks: Partial<Telemetry>, model: LanguageModel): Promise<void> {
  const result = streamText({
    ...shared,
    model,
    tools,
    runtimeContext: context,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
    ...(callbacks as object),
  })
  await result.consumeStream({ onError: () => undefined })
}

async function ofHoldfast(options: Partial<HoldfastOptions>) {
  const fixture = await createFixture(script, { ...shared, tools, context, ...options })
  return { ...fixture, turn: await fixture.runTurn('go') }
}

/** Ids and times are each one's own. */
const ids =
  /^(?:callId|toolCallId|id|responseId|timestamp|performance|toolExecutionMs|stepTools|promptMessages|stepToolChoice)$/
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) => {
      if (ids.test(key)) return '*'
      // The ledger keeps the sums, and of the details those of caches and of reasoning.
      if (key.endsWith('TokenDetails') || (key === 'dynamic' && each === false)) return undefined
      if (each instanceof Error) return each.message
      return typeof each === 'string' ? each.replace(/^Error: /, '') : each
    }) ?? 'null',
  )

describe('what streamText passes to its callbacks', () => {
  it('[AG4] is passed here too: the same, in the same order', async () => {
    const expected = listen()
    await ofSdk(expected.callbacks, scriptedModel(script))
    const here = listen()
    await ofHoldfast(here.callbacks as Partial<HoldfastOptions>)
    expect(here.callbackCalls.map(([name]) => name)).toEqual(
      expected.callbackCalls.map(([name]) => name),
    )
    for (const [index, [name, event]] of expected.callbackCalls.entries()) {
      const given = here.callbackCalls[index]?.[1] ?? {}
      const missing = Object.keys(event).filter(
        (key) => event[key] !== undefined && !(key in given),
      )
      expect([name, missing]).toEqual([name, name === 'onStepStart' ? missing : []])
      for (const key of [
        'stepNumber',
        'text',
        'reasoningText',
        'usage',
        'totalUsage',
        'finishReason',
        'toolCalls',
        'toolResults',
        'content',
        'messages',
        'instructions',
        'runtimeContext',
        'toolCall',
        'toolOutput',
        'modelId',
        'provider',
      ]) {
        if (key in event)
          expect([name, key, plain(given[key])]).toEqual([name, key, plain(event[key])])
      }
    }
  })

  it('[AG4] of what an end comes to: all steps together, in callbacks and by their older names', async () => {
    const seen: unknown[] = []
    await ofHoldfast({
      onFinish: ({ usage, totalUsage, steps: all, text, toolCalls, finalStep, responseMessages }) =>
        void seen.push(
          usage.totalTokens,
          totalUsage.outputTokens,
          all.length,
          text,
          toolCalls.map(({ toolName }) => toolName),
          finalStep.stepNumber,
          responseMessages.map(({ role }) => role),
        ),
    })
    const roles = ['assistant', 'tool', 'assistant', 'tool', 'assistant']
    expect(seen).toEqual([45, 15, 3, 'Seen.', ['look', 'trip'], 2, roles])
  })

  it('[AG4 AG5] of a model that fails and of the one that answers instead', async () => {
    const { callbackCalls, callbacks } = listen()
    const broken = scriptedModel(() => [{ fails: new Error('No.') }], { modelId: 'broken' })
    const other = scriptedModel(() => [{ text: 'Here.' }], { modelId: 'other' })
    await ofHoldfast({ ...callbacks, model: [broken, other], maxRetries: 0 } as never)
    expect(callbackCalls.map(([name, { modelId }]) => [name, modelId])).toEqual([
      ['onStart', 'broken'],
      ['onStepStart', 'broken'],
      ['onLanguageModelCallStart', 'broken'],
      ['onStepError', 'broken'],
      ['onStepStart', 'other'],
      ['onLanguageModelCallStart', 'other'],
      ['onLanguageModelCallEnd', 'other'],
      ['onStepEnd', undefined],
      ['onEnd', undefined],
    ])
  })
})

describe('telemetry integrations of the SDK', () => {
  it('[AG4] receive the same as from streamText, and nothing where they are switched off', async () => {
    const expected = listen()
    await ofSdk({ telemetry: { integrations: expected.callbacks } } as never, scriptedModel(script))
    const here = listen()
    await ofHoldfast({ telemetry: { integrations: [here.callbacks], functionId: 'f' } })
    expect(here.callbackCalls.map(([name]) => name)).toEqual(
      expected.callbackCalls.map(([name]) => name),
    )
    expect(here.callbackCalls.every(([, { functionId }]) => functionId === 'f')).toBe(true)
    const [id, ...others] = new Set(here.callbackCalls.map(([, { callId }]) => callId))
    expect([typeof id, others]).toEqual(['string', []])
    const off = listen()
    await ofHoldfast({ telemetry: { integrations: off.callbacks, isEnabled: false } })
    expect(off.callbackCalls).toEqual([])
  })

  it('[AG4] that are registered for all are called, unless an agent has its own', async () => {
    const all = listen()
    const own = listen()
    registerTelemetry(all.callbacks)
    try {
      await ofHoldfast({})
      expect(all.callbackCalls.at(-1)?.[0]).toBe('onEnd')
      const before = all.callbackCalls.length
      await ofHoldfast({ telemetry: { integrations: own.callbacks } })
      expect([all.callbackCalls.length, own.callbackCalls.length]).toEqual([before, before])
    } finally {
      globalThis.AI_SDK_TELEMETRY_INTEGRATIONS = undefined
    }
  })

  it('[AG4] see of contexts what is named, and no content where that is switched off', async () => {
    const open = listen()
    await ofHoldfast({
      telemetry: { integrations: open.callbacks, includeRuntimeContext: { tenant: true } },
    })
    expect(JSON.stringify(open.callbackCalls)).not.toContain('"secret"')
    expect(JSON.stringify(open.callbackCalls)).toContain('"tenant":"t1"')
    const hidden = listen()
    const dark = { recordInputs: false, recordOutputs: false }
    await ofHoldfast({ telemetry: { integrations: hidden.callbacks, ...dark } })
    expect(hidden.callbackCalls.map(([name]) => name)).toEqual(
      open.callbackCalls.map(([name]) => name),
    )
    expect(
      JSON.stringify(hidden.callbackCalls, (_, each: unknown) =>
        each instanceof Error ? each.message : each,
      ),
    ).not.toMatch(/Seen|saw|"it"|tripped|Be kind|Looks|tenant|secret/)
  })

  it('[AG4] run tools and requests inside what they keep of them, and break nothing when they throw', async () => {
    const inside = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const model = scriptedModel(script, { onCall: () => void seen.push(inside.getStore()) })
    const { turn } = await ofHoldfast({
      model,
      tools: {
        ...tools,
        look: { ...tools.look, execute: () => void seen.push(inside.getStore()) },
      },
      telemetry: {
        integrations: {
          executeLanguageModelCall: ({ execute }) => inside.run('model', execute),
          executeTool: ({ execute, toolCall }) => inside.run(toolCall?.toolName ?? '', execute),
          onStart: () => {
            throw new Error('Not heard.')
          },
        },
      },
    })
    expect(seen).toEqual(['model', 'look', 'model', 'model'])
    expect(turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'completed' } })
  })

  it('[AG4] have nothing left open by a turn that waits, goes on, fails or is stopped', async () => {
    const { callbackCalls, callbacks } = listen()
    const errors: unknown[] = []
    const telemetry = {
      integrations: { ...callbacks, onError: (event: unknown) => void errors.push(event) },
    }
    const policies = { look: { approval: 'always' as const } }
    const { holdfast, threadId, turn } = await ofHoldfast({ telemetry, policies })
    const [call] = callsOf(turn)
    expect(callbackCalls.at(-1)).toMatchObject(['onEnd', { usage: { totalTokens: 15 } }])
    await holdfast.decide({
      threadId,
      by: 'me',
      decisions: [{ toolCallId: call!.id, decision: 'accept' }],
    })
    await holdfast.settled()
    // The tool first, and only what this run has added.
    const names = callbackCalls.map(([name]) => name)
    expect(names.slice(names.indexOf('onEnd') + 1)[1]).toBe('onToolExecutionStart')
    expect(callbackCalls.at(-1)).toMatchObject(['onEnd', { usage: { totalTokens: 30 } }])
    const counted = (name: string) => callbackCalls.filter(([each]) => each === name).length
    expect([counted('onStart'), counted('onEnd')]).toEqual([2, 2])

    await ofHoldfast({ telemetry, model: scriptedModel(() => [{ fails: new Error('No.') }]) })
    expect(errors).toMatchObject([
      { callId: callbackCalls.at(-1)?.[1]['callId'], error: { message: 'No.' } },
    ])

    const slow = await createFixture(() => [{ text: 'Well' }, { waitMs: 600_000 }], { telemetry })
    await slow.send('go')
    await slow.until(({ messages }) => JSON.stringify(messages).includes('Well'))
    await slow.holdfast.stop(slow.threadId)
    await slow.holdfast.settled()
    expect(callbackCalls.at(-1)?.[0]).toBe('onAbort')
  })
})
