import { tool } from 'ai'
import {
  combineHooks,
  createHoldfast,
  type Holdfast,
  type HoldfastOptions,
  type Hooks,
  type LifecycleEvent,
  memory,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { createScriptedClock } from '../support/scripted-clock.ts'

type Failed = Extract<LifecycleEvent, { readonly type: 'failed' }>

const down = (): never => {
  throw new Error('The tracer is down.')
}
/** Does the work, and throws when it is done. */
const throwing = async (work: () => unknown): Promise<never> => Promise.resolve(work()).then(down)
const inside = <Result>(_: object, work: () => Result): Result => throwing(work) as Result

function open(options: Partial<HoldfastOptions>) {
  const clock = createScriptedClock()
  const holdfast = createHoldfast({
    store: memory(),
    clock,
    recoverEveryMs: 0,
    model: scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? [{ text: 'Paid.' }] : [{ call: 'pay', input: {} }],
    ),
    tools: { pay: tool({ inputSchema: z.object({}), execute: () => 'paid' }) },
    ...options,
  })
  onTestFinished(() => holdfast.close())
  return { clock, holdfast }
}

async function answer(holdfast: Holdfast, threadId: string) {
  const message = { parts: [{ type: 'text', text: 'go' } as const] }
  await holdfast.send({ threadId, message, create: { ownerId: 'ana' } })
  await holdfast.settled()
  const page = await holdfast.messages(threadId, { format: 'chat' })
  expect(page?.results[0]).toMatchObject({
    content: 'Paid.',
    toolCalls: [{ result: 'paid' }],
  })
  expect(JSON.stringify(page)).not.toContain('tracer')
}

function listenToErrors() {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  return () => log.mock.calls.map(([line]) => String(line))
}

/** Hooks that keep what failed, and wrap steps and calls. */
function keepFailures(failures: Failed[], more: Partial<Hooks> = {}): Hooks {
  return Object.assign((event: LifecycleEvent) => {
    if (event.type === 'failed') failures.push(event)
  }, more)
}

const cases: readonly (readonly [
  name: string,
  observer: string,
  options: (failures: Failed[]) => Partial<HoldfastOptions>,
])[] = [
  ['hooks.inside', 'hooks.inside', (failures) => ({ hooks: keepFailures(failures, { inside }) })],
  [
    'hooks.openTrace',
    'hooks.openTrace',
    (failures) => ({ hooks: keepFailures(failures, { openTrace: down }) }),
  ],
  [
    'executeTool of an integration',
    'telemetry.executeTool',
    (failures) => ({
      hooks: keepFailures(failures),
      telemetry: { integrations: { executeTool: ({ execute }) => throwing(execute) } },
    }),
  ],
  [
    'executeLanguageModelCall of an integration',
    'telemetry.executeLanguageModelCall',
    (failures) => ({
      hooks: keepFailures(failures),
      telemetry: { integrations: { executeLanguageModelCall: ({ execute }) => throwing(execute) } },
    }),
  ],
  [
    'an event of an integration',
    'telemetry.onStepEnd',
    (failures) => ({
      hooks: keepFailures(failures),
      telemetry: { integrations: { onStepEnd: down } },
    }),
  ],
  [
    'a callback of the agent',
    'onFinish',
    (failures) => ({ hooks: keepFailures(failures), onFinish: async () => down() }),
  ],
]

describe.each(cases)('%s that throws', (_, name, options) => {
  it('[HT6 CL5] changes nothing, and is in the log with its reason, once a minute', async () => {
    const failures: Failed[] = []
    const { clock, holdfast } = open(options(failures))
    await answer(holdfast, 'first')
    const [failed] = failures
    expect(failures).toEqual([failed])
    expect(failed).toMatchObject({
      source: 'observer',
      name,
      threadId: 'first',
      message: 'The tracer is down.',
      error: new Error('The tracer is down.'),
    })
    await clock.advance(59_999)
    await answer(holdfast, 'second')
    expect(failures).toHaveLength(1)
    await clock.advance(1)
    await answer(holdfast, 'third')
    expect(failures.map(({ threadId }) => threadId)).toEqual(['first', 'third'])
  })
})

it('[HT6] without hooks of the host the standard error has the reason', async () => {
  const lines = listenToErrors()
  const { holdfast } = open({
    telemetry: { integrations: { executeTool: ({ execute }) => throwing(execute) } },
  })
  await answer(holdfast, 'thread')
  expect(lines()).toEqual([
    expect.stringMatching(
      /^holdfast: observer telemetry\.executeTool failed \(error \S+, thread thread\): The tracer is down\.$/,
    ),
  ])
})

it.each<readonly [string, HoldfastOptions['hooks'] & {}]>([
  ['throws', ({ type }) => void (type === 'turn-ended' && down())],
  // A rejection that nobody handles would end the process.
  ['rejects', async ({ type }) => void (type === 'turn-ended' && down())],
  [
    'throws among others',
    combineHooks(
      () => {},
      ({ type }) => void (type === 'turn-ended' && down()),
    ),
  ],
])('[HT6] of a listener of hooks that %s the standard error has the reason', async (_, hooks) => {
  const lines = listenToErrors()
  const { holdfast } = open({ hooks })
  await answer(holdfast, 'first')
  await answer(holdfast, 'second')
  expect(lines()).toEqual(['holdfast: hooks failed at turn-ended: The tracer is down.'])
})
