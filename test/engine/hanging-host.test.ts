import { type Telemetry, tool } from 'ai'
import {
  callsOf,
  createHoldfast,
  type Holdfast,
  type HoldfastOptions,
  type Hooks,
  memory,
  type MessageId,
  type Store,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createScriptedClock } from '../support/scripted-clock.ts'
import { systemClock, wait } from '../../src/engine/clock.ts'
import { memoryFiles } from '../../src/files/memory-files.ts'
import { turnOf } from './fixture.ts'

type Hanging = (called: () => Promise<never>) => Partial<HoldfastOptions>

const payTool = (inputSchema: z.ZodType<object>) => tool({ inputSchema, execute: () => 'paid' })
const inside = (wrap: () => unknown): Hooks =>
  Object.assign(() => {}, { inside: wrap as Exclude<Hooks['inside'], undefined> })
const integration = (own: Telemetry): Partial<HoldfastOptions> => ({
  telemetry: { integrations: [own] },
})

const functions: readonly (readonly [name: string, options: Hanging])[] = [
  ['policies', (hang) => ({ policies: { pay: { approval: hang } } })],
  ['prepareStep', (prepareStep) => ({ prepareStep })],
  ['stopWhen', (stopWhen) => ({ stopWhen })],
  ['onStart', (onStart) => ({ onStart })],
  ['onStepStart', (onStepStart) => ({ onStepStart })],
  ['the schema of a tool', (hang) => ({ tools: { pay: payTool(z.object({}).refine(hang)) } })],
  ['hooks.inside', (hang) => ({ hooks: inside(hang) })],
  ['executeTool of an integration', (executeTool) => integration({ executeTool })],
  [
    'executeTool of an integration, after the tool',
    (hang) =>
      integration({
        async executeTool({ execute }) {
          await execute()
          return hang()
        },
      }),
  ],
  [
    'executeLanguageModelCall of an integration',
    (executeLanguageModelCall) => integration({ executeLanguageModelCall }),
  ],
]

function open(options: Hanging) {
  const called = Promise.withResolvers<void>()
  const store = memory()
  const holdfast = createHoldfast({
    store,
    recoverEveryMs: 0,
    model: scriptedModel(() => [{ call: 'pay', input: {} }]),
    tools: { pay: payTool(z.object({})) },
    ...options(() => {
      called.resolve()
      return new Promise<never>(() => {})
    }),
  })
  const sendUntilCalled = async () => {
    const turnId = await send(holdfast)
    await called.promise
    return async () => turnOf(await store.readMessage('thread', turnId))
  }
  return { holdfast, sendUntilCalled }
}

async function send(holdfast: Holdfast): Promise<MessageId> {
  const message = { id: 'u', parts: [{ type: 'text', text: 'Pay.' }] } as const
  const create = { ownerId: 'ann', title: '' }
  const sent = await holdfast.send({ threadId: 'thread', message, create })
  if (sent.kind !== 'started') throw new Error(sent.kind)
  return sent.turnId
}

describe.concurrent.each(functions)('%s that never returns', (_, options) => {
  it('[ST1] keeps nobody waiting who stops the turn', async () => {
    const { holdfast, sendUntilCalled } = open(options)
    const readTurn = await sendUntilCalled()
    await holdfast.stop('thread')
    expect((await readTurn()).progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect(holdfast.running()).toEqual([])
    await holdfast.close()
  })

  it('[ST1 OP4] lets the server close, and the turn is left to the next one', async () => {
    const { holdfast, sendUntilCalled } = open(options)
    const readTurn = await sendUntilCalled()
    await holdfast.close()
    expect((await readTurn()).progress.status).toBe('running')
  })
})

it('[ST1] a listener that never returns after the end of a turn keeps no server open', async () => {
  const { holdfast, sendUntilCalled } = open((hang) => ({ onEnd: hang, stopWhen: () => true }))
  const readTurn = await sendUntilCalled()
  expect((await readTurn()).progress.status).toBe('ended')
  await holdfast.close()
})

it('[ST1] a function that returns after its turn was stopped begins nothing', async () => {
  const late = Promise.withResolvers<undefined>()
  const events: string[] = []
  const { holdfast, sendUntilCalled } = open((hang) => ({
    prepareStep: async () => {
      void hang()
      return late.promise
    },
    model: scriptedModel(() => {
      events.push('model called')
      return [{ text: 'Paid.' }]
    }),
    onStepStart: () => void events.push('onStepStart'),
    onAbort: () => void events.push('onAbort'),
    hooks: ({ type }) => void events.push(type),
  }))
  await sendUntilCalled()
  await holdfast.stop('thread')
  late.resolve(undefined)
  await holdfast.close()
  expect(events.filter((name) => name !== 'committed')).toEqual([
    'turn-started',
    'turn-ended',
    'onAbort',
  ])
})

const insideCalls = (wrap: (work: () => unknown) => unknown): Partial<HoldfastOptions> => ({
  hooks: Object.assign(() => {}, {
    inside: <Result>(part: object, work: () => Result): Result =>
      'callId' in part ? (wrap(work) as Result) : work(),
  }),
})
const executing = (wrap: (work: () => unknown) => unknown) =>
  integration({ executeTool: ({ execute }) => wrap(execute) as ReturnType<typeof execute> })
const down = () => {
  throw new Error('the tracer is down')
}

describe.each<[string, (wrap: (work: () => unknown) => unknown) => Partial<HoldfastOptions>]>([
  ['hooks.inside', insideCalls],
  ['executeTool of an integration', executing],
])('%s', (_, around) => {
  async function pay(wrap: (work: () => unknown) => unknown) {
    let paid = 0
    const holdfast = createHoldfast({
      store: memory(),
      recoverEveryMs: 0,
      model: scriptedModel(({ prompt }) =>
        prompt.at(-1)?.role === 'tool'
          ? [{ text: 'Paid.' }]
          : [
              { call: 'pay', input: {} },
              { call: 'pay', input: {} },
            ],
      ),
      tools: { pay: tool({ inputSchema: z.object({}), execute: () => ++paid }) },
      errorText: (error) => (error as Error).message,
      ...around(wrap),
    })
    const turnId = await send(holdfast)
    await holdfast.settled()
    const turn = turnOf(await holdfast.store.readMessage('thread', turnId))
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    await holdfast.close()
    return { paid, calls: [...callsOf(turn)] }
  }

  it.each<[string, (work: () => unknown) => unknown]>([
    ['throws', async (work) => Promise.resolve(work()).then(down)],
    ['returns something else', async (work) => void (await work())],
  ])('[CL5] that %s after a call changes nothing of it', async (_how, wrap) => {
    const { paid, calls } = await pay(wrap)
    expect([paid, calls.map(({ state }) => state)]).toEqual([2, ['succeeded', 'succeeded']])
  })

  it('[CL5] that throws before a call fails it, and it is not run', async () => {
    const { paid, calls } = await pay(down)
    const failed = { state: 'failed', cause: 'tool-error', error: 'the tracer is down' }
    expect([paid, calls]).toMatchObject([0, [failed, failed]])
  })
})

it.each([null, {}, 'trace', { traceparent: 7 }])(
  '[CL12] a tracer whose openTrace returns %j traces no turn, and ends none',
  async (trace) => {
    const hooks: Hooks = Object.assign(() => {}, { openTrace: () => trace as never })
    const holdfast = createHoldfast({
      store: memory(),
      recoverEveryMs: 0,
      model: scriptedModel(() => [{ text: 'Paid.' }]),
      hooks,
    })
    await send(holdfast)
    await holdfast.close({ graceMs: 10_000 })
  },
)

it('[AG2 ST1] a request whose choices are checked for too long is refused', async () => {
  const clock = createScriptedClock()
  const holdfast = createHoldfast({
    store: memory(),
    clock,
    recoverEveryMs: 0,
    agentTimeoutMs: 500,
    model: scriptedModel(() => [{ text: 'Paid.' }]),
    choices: z.object({}).refine(() => new Promise<never>(() => {})),
  })
  const sent = send(holdfast).catch((error: unknown) => error)
  await clock.advance(500)
  expect(await sent).toMatchObject({
    code: 'bad-choices',
    cause: { message: 'The check of a schema took longer than 500 ms.' },
  })
})

/** Longer than a run that is interrupted waits for functions of the host application. */
const slowMs = 2_500

describe.concurrent('What has arrived when a turn is stopped or the server closes', () => {
  it.each(['stop', 'close'] as const)(
    '[ST1 FL1] is kept while its file is stored: %s',
    async (how) => {
      const writing = Promise.withResolvers<void>()
      const files = memoryFiles()
      const store = memory()
      const holdfast = createHoldfast({
        store,
        recoverEveryMs: 0,
        files: {
          accept: ['*/*'],
          store: {
            ...files,
            async write(...file: Parameters<typeof files.write>) {
              writing.resolve()
              await wait(systemClock, slowMs)
              return files.write(...file)
            },
          },
        },
        model: scriptedModel(() => [{ call: 'scan', input: {} }]),
        tools: {
          scan: tool({
            inputSchema: z.object({}),
            execute: () => ({
              page: `data:application/octet-stream;base64,${'QUJD'.repeat(8_000)}`,
            }),
          }),
        },
      })
      const turnId = await send(holdfast)
      await writing.promise
      if (how === 'stop') await holdfast.stop('thread')
      else await holdfast.close()
      const turn = turnOf(await store.readMessage('thread', turnId))
      expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['succeeded'])
      expect(turn.progress).toMatchObject(
        how === 'stop' ? { ending: { kind: 'stopped' } } : { status: 'running' },
      )
      await holdfast.close()
    },
  )

  it.each(['stop', 'close'] as const)(
    '[ST1 LG3] is the end that is being stored: %s',
    async (how) => {
      const ending = Promise.withResolvers<void>()
      const inner = memory()
      const store: Store = {
        ...inner,
        async commit(group) {
          const isEnd = group.some(({ append }) =>
            append.events.some(({ type }) => type === 'turn-ended'),
          )
          if (isEnd) {
            ending.resolve()
            await wait(systemClock, slowMs)
          }
          return inner.commit(group)
        },
      }
      const reported: string[] = []
      const holdfast = createHoldfast({
        store,
        recoverEveryMs: 0,
        model: scriptedModel(() => [{ text: 'Paid.' }]),
        onEnd: () => void reported.push('onEnd'),
        onAbort: () => void reported.push('onAbort'),
        hooks: ({ type }) => void reported.push(type),
      })
      const turnId = await send(holdfast)
      await ending.promise
      if (how === 'stop') await holdfast.stop('thread')
      else await holdfast.close()
      const { progress } = turnOf(await store.readMessage('thread', turnId))
      expect(progress).toMatchObject({ ending: { kind: 'completed' } })
      const about = ['turn-ended', 'turn-lost', 'turn-handed-over', 'onEnd', 'onAbort']
      expect(reported.filter((name) => about.includes(name))).toEqual(['turn-ended', 'onEnd'])
      await holdfast.close()
    },
  )
})
