import { tool } from 'ai'
import { callsOf, createHoldfast, memory, type NewEvent, parseMessageId } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { planTurnEnd } from '../../src/core/plan-turn-end.ts'
import { systemClock } from '../../src/engine/clock.ts'
import { planRecovery } from '../../src/engine/run/plan-recovery.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { failingStore } from '../support/failing-store.ts'
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
      { store, tools: { charge }, whenBusy: 'reject' },
    )
    const { holdfast, log } = fixture
    onTestFinished(async () => {
      await holdfast.close()
      await store.close()
    })
    await fixture.send('charge card')
    await begun.opened
    jump = hour
    expect(await holdfast.recover()).toBe(0)
    expect(await fixture.send('and another thing')).toMatchObject({ kind: 'run-active' })
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

describe('a clock that is put back', () => {
  it('[AG5 RS7] keeps no stream open behind a model that says nothing any more', async () => {
    let jump = 0
    const fixture = await createFixture(() => [{ text: 'Well, ' }, { waitMs: 600_000 }], {
      clock: { ...systemClock, now: () => Date.now() + jump },
      timeout: { chunkMs: 300 },
      maxRetries: 0,
    })
    onTestFinished(() => fixture.holdfast.close())
    await fixture.send('go')
    await fixture.until(({ messages }) => JSON.stringify(messages).includes('Well'))
    jump = -24 * hour
    await fixture.holdfast.settled()
    expect((await fixture.last()).progress).toMatchObject({
      ending: { kind: 'failed', error: { code: 'timed-out' } },
    })
  })
})

describe.each(Object.entries(stores))('a run that its own process gave up, on %s', (_, open) => {
  it('[CR2 CR5] is taken up again by that process, whatever a clock says of its lease', async () => {
    let jump = hour
    const store = failingStore(open(() => Date.now() + jump))
    const fixture = await createFixture(
      ({ prompt }) =>
        prompt.length > 1 ? [{ text: ' on' }] : [{ text: 'carried' }, { waitMs: 1 }, { text: '.' }],
      { store },
    )
    const { holdfast, log } = fixture
    onTestFinished(async () => {
      await holdfast.close()
      await store.close()
    })
    await fixture.send('go')
    store.failing = true
    await holdfast.settled()
    expect(log.filter(({ type }) => type === 'turn-lost')).toHaveLength(1)
    store.failing = false
    // The lease was taken while the clock was wrong: by the right one it binds for an hour.
    jump = 0
    expect(await holdfast.recover()).toBe(1)
    await holdfast.settled()
    expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(await holdfast.recover()).toBe(0)
  })
})

describe('a process that another has taken a run over from, and does not know it yet', () => {
  /** Its run waits for a tool, and writes nothing until that ends; somebody else has ended the turn, or has it wait. */
  async function overtaken(how: 'ended' | 'waiting') {
    let jump = 0
    const done = gate<string>()
    const begun = gate()
    const work = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.open()
        return done.opened
      },
    })
    const fixture = await createFixture(
      ({ prompt }) =>
        prompt.at(-1)?.role === 'tool' ? [{ text: 'Done.' }] : [{ call: 'work', input: {} }],
      { store: memory({ now: () => Date.now() + jump }), tools: { work }, leaseMs: hour },
    )
    const { holdfast, store, threadId } = fixture
    onTestFinished(async () => {
      done.open('late')
      await holdfast.close()
    })
    await fixture.send('work')
    await begun.opened
    const turn = await fixture.last()
    const [call] = callsOf(turn)
    if (call === undefined) throw new Error('It does not run.')
    const at = 1
    const turnId = turn.id
    const events: readonly NewEvent[] =
      how === 'ended'
        ? planTurnEnd(turn, { kind: 'interrupted' }, at)
        : [
            ...planRecovery(turn, holdfast.toolbox, at),
            { type: 'turn-paused', turnId, at, waitingFor: 'resolution' },
          ]
    jump = 2 * hour
    const acquire = { kind: 'acquire', holder: 'other', ttlMs: 1_000, turnId } as const
    const taken = await commitAppend(store, { threadId, events: [], lease: acquire })
    if (taken.kind !== 'appended' || taken.fence === undefined) throw new Error(taken.kind)
    const lease = { kind: 'release', fence: taken.fence } as const
    const place = { threadId, expectedSeq: taken.seq, turns: [turn] }
    expect(await commitAppend(store, { ...place, events, lease })).toMatchObject({
      kind: 'appended',
    })
    return { ...fixture, turnId, callId: call.id }
  }

  it('[RS5 CR2] takes the next message, since nothing runs', async () => {
    const fixture = await overtaken('ended')
    expect(await fixture.send('and another thing')).toMatchObject({ kind: 'started' })
  })

  it('[AP2 CR2] takes what a person says of the call, and goes on with the turn', async () => {
    const fixture = await overtaken('waiting')
    const { holdfast, threadId, callId, turnId } = fixture
    const resolved = await holdfast.resolve({ threadId, callId, by: 'ana', resolution: 'skip' })
    expect(resolved).toEqual({ kind: 'resolved' })
    const view = await fixture.until(({ messages }) => {
      const turn = messages.find(({ id }) => id === turnId)
      return turn?.role === 'assistant' && turn.progress.status === 'ended'
    })
    expect(view.messages.at(-1)).toMatchObject({ progress: { ending: { kind: 'completed' } } })
  })
})

it('[CR2] a thread that was made anew under the id of one that is being answered can be written to', async () => {
  const store = memory()
  const fixture = await createFixture(() => [{ text: 'working' }, { waitMs: 60_000 }], { store })
  const { holdfast, threadId } = fixture
  onTestFinished(() => holdfast.close())
  await fixture.send('go')
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
  await first.send('go')
  // What it still writes would be in the way of the look, and there is only one.
  await first.until(({ messages }) => {
    const turn = messages.at(-1)
    return turn?.role === 'assistant' && turn.steps.some(({ parts }) => parts.length > 0)
  })
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
