import { tool, wrapLanguageModel } from 'ai'
import {
  callsOf,
  type CallScope,
  createHoldfast,
  defineAgent,
  defineTool,
  type LifecycleEvent,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { call, createFixture, type Script, statesOf } from './fixture.ts'

const callOnce: Script = ({ index }) => (index === 0 ? [call(1)] : [{ text: 'Done.' }])
const input = z.object({ value: z.unknown() })
const seen = (scope: CallScope<unknown>) => {
  const { ownerId, threadId, turnId, toolCallId, idempotencyKey, context, messages } = scope
  const isAborted = scope.abortSignal.aborted
  return { ownerId, threadId, turnId, toolCallId, idempotencyKey, context, messages, isAborted }
}

describe('what runs for a turn', () => {
  it('[AG3] knows for whom: tools, policies and hooks', async () => {
    const scopes: Record<string, unknown> = {}
    const events: LifecycleEvent<{ user: string }>[] = []
    const store = memory()
    const holdfast = createHoldfast({
      store,
      recoverEveryMs: 0,
      agent: ({ ownerId }) =>
        defineAgent({
          model: scriptedModel(callOnce),
          context: { user: ownerId.toUpperCase() },
          tools: {
            echo: {
              inputSchema: input,
              execute(_, scope) {
                scopes['tool'] = seen(scope)
                return scope.context.user.length
              },
            },
          },
          policies: {
            echo: {
              approval(_, scope) {
                scopes['policy'] = seen(scope)
                return scope.context.user === 'nobody'
              },
            },
          },
        }),
      hooks(event) {
        // The type is that of the agent's context.
        if ('context' in event) expect(event.context?.user.length).toBe(3)
        events.push(event)
      },
    })
    const threadId = parseThreadId('t')
    const sent = await holdfast.send({
      threadId,
      create: { ownerId: parseOwnerId('ann'), title: '' },
      message: { id: parseMessageId('u1'), parts: [{ type: 'text', text: 'hi' }] },
    })
    await holdfast.settled()
    const turnId = sent.kind === 'started' ? sent.turnId : undefined
    const turn = await store.findTurn(turnId!)
    const toolCallId = [...callsOf(turn!.turn)][0]?.id
    const place = { ownerId: 'ann', threadId, turnId }
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }]
    const idempotencyKey = `t/${String(toolCallId)}`
    const expected = { toolCallId, idempotencyKey, context: { user: 'ANN' }, isAborted: false }
    expect(scopes).toMatchObject({
      tool: { ...place, ...expected, messages },
      policy: { ...place, ...expected, messages },
    })
    const ofTurn = events.filter((event) => event.type !== 'committed')
    expect(ofTurn.every((event) => 'ownerId' in event && event.ownerId === 'ann')).toBe(true)
    expect(ofTurn.map((event) => ('context' in event ? event.context : event.type))).toEqual([
      'turn-started',
      ...ofTurn.slice(1).map(() => ({ user: 'ANN' })),
    ])
    expect(ofTurn.find(({ type }) => type === 'call-started')).toMatchObject({ idempotencyKey })
    // A log that writes events as JSON writes no context.
    expect(JSON.stringify(ofTurn)).not.toContain('ANN')
  })

  it('[AG3] a tool of its own context gets that as its schema makes it, and the others the agent’s', async () => {
    const contexts: unknown[] = []
    const keep = (_: unknown, { context }: { context: unknown }) => {
      contexts.push(context)
      return 1
    }
    const agent = defineAgent({
      model: scriptedModel(({ index }) =>
        index === 0
          ? ['typed', 'named', 'plain'].map((name) => ({ call: name, input: {} }))
          : [{ text: 'Done.' }],
      ),
      context: { of: 'agent' },
      tools: {
        typed: tool({
          inputSchema: z.object({}),
          contextSchema: z.object({ key: z.string(), unit: z.string().default('metric') }),
          execute: keep,
        }),
        named: { inputSchema: z.object({}), execute: keep },
        plain: { inputSchema: z.object({}), execute: keep },
      },
      toolsContext: { typed: { key: 'k', secret: 's' }, named: 7 },
    })
    const { runTurn } = await createFixture(callOnce, { agent, toolConcurrency: 1 })
    expect(statesOf(await runTurn('hi'))).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(contexts).toEqual([{ key: 'k', unit: 'metric' }, 7, { of: 'agent' }])
  })

  const needy = (run: () => void) =>
    tool({
      inputSchema: input,
      contextSchema: z.object({ key: z.string() }),
      execute: () => run(),
    })

  it.each([
    ['wrong', { echo: { key: 'hunter2'.length } }],
    ['missing', {}],
    ['another tool’s', { other: { key: 'k' } }],
  ])('[AG3] a context that is %s fails the call, says so and runs nothing', async (_, given) => {
    let ran = 0
    const agent = {
      model: scriptedModel(callOnce),
      // Not the agent's: a tool that says what it takes gets nothing else.
      context: { key: 'of the agent' },
      tools: { echo: needy(() => ran++), other: needy(() => ran++) },
      toolsContext: given,
    }
    const { runTurn, log } = await createFixture(callOnce, { agent })
    const [failed] = callsOf(await runTurn('hi'))
    expect(failed).toMatchObject({ state: 'failed', cause: 'tool-error' })
    const reason = 'The context of the tool "echo" does not match its "contextSchema": '
    const told = log.find(({ type }) => type === 'failed')
    expect(told).toMatchObject({ source: 'tool' })
    expect(told?.type === 'failed' && told.message).toContain(reason)
    expect(ran).toBe(0)
  })

  it('[AG3] approval functions of the SDK get the tool’s context and the agent’s, by its names', async () => {
    const told: unknown[] = []
    const agent = defineAgent({
      model: scriptedModel(callOnce),
      context: { user: 'ann' },
      tools: {
        echo: tool({
          inputSchema: input,
          contextSchema: z.object({ limit: z.number() }),
          execute: () => 1,
        }),
      },
      toolsContext: { echo: { limit: 3 } },
      toolApproval: {
        echo(_, { toolContext, runtimeContext, context, ownerId, idempotencyKey }) {
          told.push(toolContext, runtimeContext.user, context.user, ownerId, idempotencyKey)
          return 'not-applicable' as const
        },
      },
    })
    const { runTurn } = await createFixture(callOnce, { agent })
    const [done] = callsOf(await runTurn('hi'))
    expect(done?.state).toBe('succeeded')
    const key = `thread-1/${String(done?.id)}`
    expect(told).toEqual([{ limit: 3 }, 'ann', 'ann', 'owner', key])
  })

  it('[AG3] a description that is a function is made from the context', async () => {
    const sent: string[] = []
    const model = wrapLanguageModel({
      model: scriptedModel(callOnce) as never,
      middleware: {
        specificationVersion: 'v4',
        async transformParams({ params }) {
          for (const { description } of (params.tools ?? []) as { description?: string }[])
            sent.push(description ?? '')
          return params
        },
      },
    })
    const echo = defineTool({
      description: ({ context }: { context: { user: string } }) => `For ${context.user}.`,
      inputSchema: input,
      execute: (_, { context }: CallScope<{ user: string }>) => context.user,
    })
    const agent = defineAgent({ model, context: { user: 'ann' }, tools: { echo } })
    const { runTurn } = await createFixture(callOnce, { agent })
    await runTurn('hi')
    expect(sent).toEqual(['For ann.', 'For ann.'])
  })
})

describe('types', () => {
  it('[AG3] a tool for one context is not taken for another’s', () => {
    const model = scriptedModel(callOnce)
    const greet = defineTool({
      inputSchema: z.object({ word: z.string() }),
      execute: ({ word }, { context, ownerId }: CallScope<{ name: string }>) =>
        `${word.toLowerCase()} ${context.name.toLowerCase()} ${ownerId}`,
    })
    const right = defineAgent({ model, context: { name: 'Ann' }, tools: { greet } })
    // @ts-expect-error -- its context has no name
    const wrong = defineAgent({ model, context: { nam: 'Ann' }, tools: { greet } })
    const choices = z.object({ size: z.enum(['s', 'l']).default('s') })
    const options = { store: memory(), recoverEveryMs: 0, choices }
    const holdfast = createHoldfast({
      ...options,
      agent: async ({ choices: { size } }) => ({ ...right, seed: { s: 1, l: 2 }[size] }),
      hooks: (event) => 'context' in event && event.context?.name.toLowerCase(),
    })
    expect([holdfast.toolbox.tools, Object.keys(wrong)]).toEqual([{}, Object.keys(right)])
  })
})
