import { tool } from 'ai'
import { callsOf, memory, type Store } from 'holdfast'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type Clock, systemClock } from '../../src/engine/clock.ts'
import { turnsDuring } from '../support/turns-during.ts'
import { endlessModel, type EndlessPart } from '../support/endless-model.ts'
import { createFixture, gate, messageId } from './fixture.ts'

/** On which any work takes longer than a slice may, however fast the machine is. */
function slowClock(): Clock {
  let ms = 0
  return { ...systemClock, elapsed: () => (ms += 10) }
}

const finish: EndlessPart = {
  type: 'finish',
  finishReason: { unified: 'stop', raw: 'stop' },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 1, text: 1, reasoning: undefined },
  },
}

it.each<[what: string, part: EndlessPart]>([
  ['text', { type: 'text-delta', id: 't', delta: 'a' }],
  ['empty text', { type: 'text-delta', id: 't', delta: '' }],
  ['raw parts', { type: 'raw', rawValue: {} }],
  ['metadata', { type: 'response-metadata', modelId: 'x' }],
])('[OP7] a model that never waits leaves others their turns: %s', async (_, part) => {
  const model = endlessModel((index) =>
    index === 0
      ? [{ type: 'text-start', id: 't' }]
      : index < 20_000
        ? [part]
        : [{ type: 'text-delta', id: 't', delta: 'end' }, { type: 'text-end', id: 't' }, finish],
  )
  const fixture = await createFixture(() => [], { agent: { model }, clock: slowClock() })
  const { turns } = await turnsDuring(async () => {
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })
  expect(turns).toBeGreaterThan(40)
})

it('[OP7 CL12] so does a loop of the host’s own', async () => {
  const fixture = await createFixture(() => [], { clock: slowClock() })
  async function* stream() {
    for (let index = 0; index < 20_000; index++) yield 'a'
  }
  const { turns } = await turnsDuring(async () => {
    const recording = await fixture.holdfast.record(stream(), {
      threadId: fixture.threadId,
      message: { id: messageId('u'), parts: [{ type: 'text', text: 'go' }] },
    })
    expect(recording.kind).toBe('recording')
    await fixture.holdfast.settled()
  })
  expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  expect(turns).toBeGreaterThan(40)
})

it('[OP7 CL10] a tool whose progress never waits leaves others their turns, and stores little of it', async () => {
  const big = 'x'.repeat(100_000)
  const work = tool({
    inputSchema: z.object({}),
    async *execute() {
      for (let index = 0; index < 2_000; index++) yield { index, big }
    },
  })
  const kept = memory()
  let chars = 0
  const store: Store = {
    ...kept,
    commit(commits) {
      chars += JSON.stringify(commits.map(({ append }) => append.events)).length
      return kept.commit(commits)
    },
  }
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'work', input: {} }] : [{ text: 'ok' }]),
    { tools: { work }, store },
  )
  const { turns } = await turnsDuring(async () => {
    const turn = await fixture.runTurn('go')
    expect([...callsOf(turn)][0]).toMatchObject({
      state: 'succeeded',
      output: { kind: 'inline', value: { index: 1_999 } },
    })
  })
  expect(turns).toBeGreaterThan(1_000)
  // Of 200 MB: what was newest when something was committed, and no more than is read with the turn.
  expect(chars).toBeLessThan(5_000_000)
})

it('[OP7a CL10] progress that is larger than a page shows is left out, and the result is not', async () => {
  const wait = gate()
  const work = tool({
    inputSchema: z.object({}),
    async *execute() {
      yield 'small'
      yield 'x'.repeat(1_000_000)
      await wait.opened
      yield 'y'.repeat(1_000_000)
    },
  })
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'work', input: {} }] : [{ text: 'ok' }]),
    { tools: { work } },
  )
  await fixture.send('go')
  const view = await fixture.until(({ messages }) => JSON.stringify(messages).includes('small'))
  expect(JSON.stringify(view).length).toBeLessThan(10_000)
  wait.open()
  await fixture.holdfast.settled()
  expect(JSON.stringify(await fixture.last()).length).toBeGreaterThan(1_000_000)
})
