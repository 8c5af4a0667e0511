import {
  isStepCount,
  type LanguageModel,
  type ModelMessage,
  pruneMessages,
  streamText,
  tool,
  type ToolSet,
} from 'ai'
import { callsOf, defineAgent, type HoldfastOptions, type PrepareStep } from 'holdfast'
import { scriptedModel, type ScriptPart } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Script } from './fixture.ts'

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>

const look = tool({ inputSchema: z.object({ at: z.string() }), execute: ({ at }) => `saw ${at}` })
const tools = { look } satisfies ToolSet
const steps: readonly (readonly ScriptPart[])[] = [
  [{ text: 'One.' }, { call: 'look', input: { at: 'a' } }],
  [{ text: 'Two.' }, { call: 'look', input: { at: 'b' } }],
  [{ text: 'Three.' }],
]
const script: Script = ({ index }) => steps[index] ?? []
const ids = /^(?:toolCallId|id|timestamp|performance)$/
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) => {
      // What is not there is told in two ways.
      if (key === 'providerOptions' || (key === 'dynamic' && each === false)) return undefined
      return ids.test(key) ? '*' : each
    }) ?? 'null',
  )

/** What the provider is sent, and what the function is asked with, step by step. */
async function bySdk(prepareStep: PrepareStep<never>) {
  const sent: unknown[] = []
  const model = scriptedModel(script, { onCall: ({ prompt }) => void sent.push(plain(prompt)) })
  const messages: ModelMessage[] = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }]
  const result = streamText({
    model,
    tools,
    messages,
    instructions: 'Be kind.',
    runtimeContext: { n: 0 },
    stopWhen: isStepCount(9),
    prepareStep: prepareStep as never,
  })
  await result.consumeStream()
  return sent
}

async function byHoldfast(prepareStep: PrepareStep<never>, options: Partial<HoldfastOptions> = {}) {
  const sent: unknown[] = []
  const model = scriptedModel(script, { onCall: ({ prompt }) => void sent.push(plain(prompt)) })
  const { runTurn } = await createFixture(script, {
    model,
    tools,
    instructions: 'Be kind.',
    context: { n: 0 },
    prepareStep: prepareStep as PrepareStep,
    ...options,
  })
  await runTurn('go')
  return sent
}

describe('prepareStep', () => {
  it('[AG4] is asked with what streamText would ask it with', async () => {
    const rememberStep = (seen: unknown[]): PrepareStep<never> => {
      return (given) => {
        const { stepNumber, instructions, initialInstructions, runtimeContext } = given
        const { messages, initialMessages, responseMessages } = given
        const last = given.steps.at(-1)
        seen.push(
          plain({
            stepNumber,
            instructions,
            initialInstructions,
            runtimeContext,
            messages,
            initialMessages,
            responseMessages,
            said: [last?.text, last?.toolResults, last?.finishReason, last?.response.messages],
          }),
        )
        return undefined
      }
    }
    const expected: unknown[] = []
    const here: unknown[] = []
    await bySdk(rememberStep(expected))
    await byHoldfast(rememberStep(here))
    expect(expected).toHaveLength(3)
    expect(here).toEqual(expected)
  })

  const changes: Readonly<Record<string, PrepareStep<never>>> = {
    'instructions of one step': ({ stepNumber }) =>
      stepNumber === 1 ? { instructions: 'Be brief.' } : undefined,
    'instructions by their older name': ({ stepNumber }) =>
      stepNumber === 0 ? { system: 'Be brief.' } : {},
    'messages of one step': ({ stepNumber, messages }) =>
      stepNumber === 1
        ? {
            messages: [
              { role: 'user', content: [{ type: 'text', text: 'short' }] },
              ...messages.slice(-2),
            ],
          }
        : undefined,
    'messages of every step': ({ messages }) => ({
      messages: pruneMessages({ messages, toolCalls: 'before-last-2-messages' }),
    }),
    'a summary and what came since': ({ stepNumber, initialMessages, responseMessages }) =>
      stepNumber === 2 ? { messages: [...initialMessages, ...responseMessages.slice(2)] } : {},
  }
  it.each(Object.entries(changes))('[AG4] sends what streamText sends: %s', async (_, change) => {
    expect(await byHoldfast(change)).toEqual(await bySdk(change))
  })

  it('[AG3 AG4] gives contexts that hold from that step on, for tools, approvals and hooks', async () => {
    const seen: unknown[] = []
    const agent = defineAgent({
      model: scriptedModel(script),
      context: { n: 0 },
      tools: {
        look: {
          inputSchema: z.object({ at: z.string() }),
          execute: (_, { context }) => void seen.push(['tool', context.n]),
        },
      },
      policies: {
        look: {
          approval: (_, { context }) => {
            seen.push(['policy', context.n])
            return false
          },
        },
      },
      // Typed by the agent's context.
      prepareStep: ({ stepNumber, runtimeContext }) => {
        seen.push(['step', runtimeContext.n.toFixed(0)])
        return stepNumber === 1 ? { runtimeContext: { n: runtimeContext.n + 7 } } : undefined
      },
      onStepEnd: ({ runtimeContext }) => void seen.push(['end', runtimeContext.n]),
    })
    const { runTurn, log } = await createFixture(script, { agent })
    await runTurn('go')
    expect(seen).toEqual([
      ['step', '0'],
      ['policy', 0],
      ['tool', 0],
      ['end', 0],
      ['step', '0'],
      ['policy', 7],
      ['tool', 7],
      ['end', 7],
      ['step', '7'],
      ['end', 7],
    ])
    expect(log.at(-1)).toMatchObject({ type: 'turn-ended' })
    const of = log.flatMap((event) =>
      'context' in event ? [(event.context as { n: number }).n] : [],
    )
    expect([of[0], of.at(-1)]).toEqual([0, 7])
  })

  it('[AG3 AG4] gives contexts of tools, which are held to their schemas', async () => {
    const seen: unknown[] = []
    const agent = defineAgent({
      model: scriptedModel(script),
      tools: {
        look: tool({
          inputSchema: z.object({ at: z.string() }),
          contextSchema: z.object({ key: z.string() }),
          execute: (_, { context }) => void seen.push(context),
        }),
      },
      toolsContext: { look: { key: 'first' } },
      prepareStep: ({ stepNumber }) => ({
        toolsContext: { look: { key: stepNumber === 0 ? 'second' : 3 } },
      }),
    })
    const { runTurn } = await createFixture(script, { agent })
    const turn = await runTurn('go')
    expect(seen).toEqual([{ key: 'second' }])
    expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['succeeded', 'failed'])
  })

  it('[AG4] adds to the options of a provider, object by object', async () => {
    const sent: unknown[] = []
    const inner = scriptedModel(script) as Model
    const model: Model = {
      ...inner,
      doStream: (options) => {
        sent.push(options.providerOptions)
        return inner.doStream(options)
      },
    }
    await byHoldfast(
      ({ stepNumber }) =>
        stepNumber === 0 ? { providerOptions: { a: { y: 2, z: { q: 1 } } } } : {},
      {
        model,
        providerOptions: { a: { x: 1, z: { p: 1 } }, b: { x: 1 } },
      },
    )
    const own = { a: { x: 1, z: { p: 1 } }, b: { x: 1 } }
    expect(sent).toEqual([{ a: { x: 1, y: 2, z: { p: 1, q: 1 } }, b: { x: 1 } }, own, own])
  })

  it('[AG4 AG5] gives the model that is stored and reported as the one that was called', async () => {
    const prepared = scriptedModel(() => [{ text: 'Here.' }], { modelId: 'prepared' })
    const { runTurn, log } = await createFixture(script, {
      prepareStep: () => ({ model: prepared }),
    })
    const turn = await runTurn('go')
    expect(turn.steps.map(({ model }) => model)).toEqual(['prepared'])
    expect(log.find(({ type }) => type === 'step-started')).toMatchObject({ modelId: 'prepared' })
  })

  it('[AG4 AG5] names the model that failed as the one that was replaced', async () => {
    const broken = scriptedModel(() => [{ fails: new Error('No.') }], { modelId: 'prepared' })
    const other = scriptedModel(() => [{ text: 'Here.' }], { modelId: 'other' })
    const first = scriptedModel(() => [{ text: 'Not asked.' }], { modelId: 'first' })
    const { runTurn, log } = await createFixture(script, {
      model: [first, other],
      maxRetries: 0,
      prepareStep: ({ model }) => (model === first ? { model: broken } : undefined),
    })
    const turn = await runTurn('go')
    expect(turn.steps.map(({ model, replaced }) => [model, replaced?.[0]])).toMatchObject([
      ['other', { model: 'prepared', by: 'other' }],
    ])
    expect(log.find(({ type }) => type === 'model-replaced')).toMatchObject({ model: 'prepared' })
  })

  it('[AG4] is asked once for a step, however long the pause before its model is tried again', async () => {
    let asked = 0
    const busy = Object.assign(new Error('Busy.'), { statusCode: 503 })
    // Longer than what was begun takes to be stored.
    const { runTurn } = await createFixture(
      ({ index }) => (index === 0 ? [{ fails: busy }] : [{ text: 'Here.' }]),
      { retryDelayMs: 80, prepareStep: () => void asked++ },
    )
    await runTurn('go')
    expect(asked).toBe(1)
  })

  it('[AG4] that throws fails the turn, and asks no other model', async () => {
    let called = 0
    const model = scriptedModel(script, { onCall: () => void called++ })
    const { runTurn, log } = await createFixture(script, {
      model: [model, model],
      retryDelayMs: 1,
      prepareStep: () => {
        throw new Error('No.')
      },
    })
    expect((await runTurn('go')).progress).toMatchObject({ ending: { kind: 'failed' } })
    expect([called, log.some(({ type }) => type === 'model-replaced')]).toEqual([0, false])
  })
})
