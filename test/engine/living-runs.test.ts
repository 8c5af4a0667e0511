import { tool } from 'ai'
import { callsOf, createHoldfast, memory, parseMessageId } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { createFixture, gate } from './fixture.ts'

/** The clock of a machine that was asleep, or was set: it jumps, and nobody died. */
const hour = 3_600_000

const stores = {
  memory: (now: () => number) => memory({ now }),
  sqlite: (now: () => number) => sqlite(temporaryFile(), { now }),
} as const

describe.each(Object.entries(stores))('a clock that jumps forward, on %s', (_, open) => {
  it('[CR2] takes no run from the process that is at it, whoever writes or looks', async () => {
    let jump = 0
    const store = open(() => Date.now() + jump)
    const done = gate<string>()
    const begun = gate()
    const charge = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.open()
        return done.opened
      },
    })
    const script = [{ call: 'charge', input: {} }]
    const fixture = await createFixture(
      ({ prompt }) => (prompt.at(-1)?.role === 'tool' ? [{ text: 'Charged.' }] : script),
      { store, tools: { charge } },
    )
    const { holdfast, log } = fixture
    onTestFinished(async () => {
      await holdfast.close()
      await store.close()
    })
    await fixture.say('charge card')
    await begun.opened
    jump = hour
    expect(await holdfast.recover()).toBe(0)
    expect(await fixture.say('and another thing')).toMatchObject({ kind: 'run-active' })
    expect(await holdfast.regenerate({ threadId: 'thread-1' })).toMatchObject({
      kind: 'run-active',
    })
    done.open('paid')
    await holdfast.settled()
    const turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'succeeded' }])
    expect(log.filter(({ type }) => type === 'turn-lost')).toEqual([])
  })
})

it('[CR2] a thread that was made anew under the id of one that is being answered can be written to', async () => {
  const store = memory()
  const fixture = await createFixture(() => [{ text: 'working' }, { waitMs: 60_000 }], { store })
  const { holdfast, threadId } = fixture
  onTestFinished(() => holdfast.close())
  await fixture.say('go')
  const thread = await store.readThread(threadId)
  await store.deleteThread(threadId)
  const { ownerId } = thread!
  const again = await holdfast.send({
    threadId,
    message: { id: parseMessageId('again'), parts: [{ type: 'text', text: 'go' }] },
    create: { ownerId, title: '' },
  })
  expect(again).toMatchObject({ kind: 'started' })
})

it('[CR2] looks for runs whose process died when it starts, not after the first interval', async () => {
  const store = memory({ isAlive: (holder) => holder !== 'dead' })
  const first = await createFixture(() => [{ text: 'working' }, { waitMs: 3_600_000 }], {
    store,
    holder: 'dead',
    leaseMs: 3_600_000,
  })
  await first.say('go')
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(() => [{ text: 'carried on' }]),
    recoverEveryMs: 3_600_000,
  })
  onTestFinished(async () => {
    await holdfast.close()
    await first.holdfast.close()
  })
  const view = await first.until(({ messages }) => {
    const turn = messages.at(-1)
    return turn?.role === 'assistant' && turn.progress.status === 'ended'
  })
  expect(view.messages.at(-1)).toMatchObject({ progress: { ending: { kind: 'completed' } } })
})
