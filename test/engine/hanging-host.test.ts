import { tool } from 'ai'
import { createHoldfast, memory, type HoldfastOptions } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { turnOf } from './fixture.ts'

type Hanging = (called: () => Promise<never>) => Partial<HoldfastOptions>

const functions: readonly (readonly [name: string, options: Hanging])[] = [
  ['policies', (hang) => ({ policies: { pay: { approval: hang } } })],
  ['prepareStep', (prepareStep) => ({ prepareStep })],
  ['stopWhen', (stopWhen) => ({ stopWhen })],
  ['onStart', (onStart) => ({ onStart })],
  ['onStepStart', (onStepStart) => ({ onStepStart })],
]

function open(options: Hanging) {
  const called = Promise.withResolvers<void>()
  const store = memory()
  const holdfast = createHoldfast({
    store,
    recoverEveryMs: 0,
    model: scriptedModel(() => [{ call: 'pay', input: {} }]),
    tools: { pay: tool({ inputSchema: z.object({}), execute: () => 'paid' }) },
    ...options(() => {
      called.resolve()
      return new Promise<never>(() => {})
    }),
  })
  const ask = async () => {
    const message = { id: 'u', parts: [{ type: 'text', text: 'Pay.' }] } as const
    const create = { ownerId: 'ann', title: '' }
    const sent = await holdfast.send({ threadId: 'thread', message, create })
    if (sent.kind !== 'started') throw new Error(sent.kind)
    await called.promise
    return async () => turnOf(await store.readMessage('thread', sent.turnId))
  }
  return { holdfast, ask }
}

describe.concurrent.each(functions)('%s that never returns', (_, options) => {
  it('[ST1] keeps nobody waiting who stops the turn', async () => {
    const { holdfast, ask } = open(options)
    const readTurn = await ask()
    await holdfast.stop('thread')
    expect((await readTurn()).progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect(holdfast.running()).toEqual([])
    await holdfast.close()
  })

  it('[ST1 OP4] lets the server close, and the turn is left to the next one', async () => {
    const { holdfast, ask } = open(options)
    const readTurn = await ask()
    await holdfast.close()
    expect((await readTurn()).progress.status).toBe('running')
  })
})

it('[ST1] a listener that never returns after the end of a turn keeps no server open', async () => {
  const { holdfast, ask } = open((hang) => ({ onEnd: hang, stopWhen: () => true }))
  const readTurn = await ask()
  expect((await readTurn()).progress.status).toBe('ended')
  await holdfast.close()
})
