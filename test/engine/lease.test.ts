import { tool } from 'ai'
import { createHoldfast, memory, type Store } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { NewEvent } from '../../src/core/event.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { createFixture, type Fixture, gate, messageId } from './fixture.ts'

/** A run in mid-text that would go on for a minute. */
async function startLongRun(store: Store): Promise<Fixture> {
  const here = await createFixture(() => [{ text: 'working' }, { waitMs: 60_000 }], { store })
  await here.send('go')
  await here.until(({ messages }) => {
    const turn = messages.at(-1)
    return turn?.role === 'assistant' && turn.steps[0]?.parts[0] !== undefined
  })
  return here
}

describe('the lease', () => {
  it('[CR2] lets a run that comes back late write nothing', async () => {
    let now = 1_000
    const store = memory({ now: () => now })
    const go = gate<string>()
    const begun = gate()
    const slow = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.open()
        return go.opened
      },
    })
    const options = { store, tools: { slow }, leaseMs: 60_000 } as const
    const late = await createFixture(() => [{ call: 'slow', input: {} }], {
      ...options,
      holder: 'late',
    })
    await late.send('go')
    await begun.opened
    now += 61_000
    const quick = createHoldfast({
      ...options,
      model: scriptedModel(() => [{ text: 'taken over' }]),
      recoverEveryMs: 0,
      holder: 'quick',
    })
    expect(await quick.recover()).toBe(1)
    await quick.settled()
    const before = await late.last()
    expect(before.progress).toEqual({ status: 'waiting', waitingFor: 'resolution' })
    go.open('too late')
    await late.holdfast.settled()
    expect(await late.last()).toEqual(before)
    expect(late.log.some(({ type }) => type === 'turn-lost')).toBe(true)
    await quick.close()
  })

  it('[CR2 CR4] begins no second run of a turn that this process has taken over before it knew that it had begun', async () => {
    let now = 1_000
    const opened = memory({ now: () => now })
    const go = gate()
    let charged = 0
    let fence = 0
    let recover: (() => Promise<number>) | undefined
    // What became of the first commit is looked up late: by then the lease is another one of the same process.
    const store: Store = {
      ...opened,
      async commit(commits) {
        const takeOver = commits[0]?.append.lease?.kind === 'acquire' ? recover : undefined
        if (takeOver !== undefined) recover = undefined
        const results = await opened.commit(commits)
        const [first] = results
        if (first?.kind !== 'appended') return results
        fence = Math.max(fence, first.fence ?? 0)
        if (takeOver === undefined) return results
        now += 61_000
        expect(await takeOver()).toBe(1)
        return [{ ...first, fence }]
      },
    }
    const fixture = await createFixture(
      ({ prompt }) =>
        prompt.at(-1)?.role === 'tool' ? [{ text: 'Charged.' }] : [{ call: 'charge', input: {} }],
      {
        store,
        leaseMs: 60_000,
        tools: {
          charge: tool({
            inputSchema: z.object({}),
            async execute() {
              charged++
              await go.opened
            },
          }),
        },
      },
    )
    const { holdfast, threadId } = fixture
    // So many that what hides them is not committed in one group with others.
    const events = Array.from({ length: 700 }, (_, nth) => {
      const said = { messageId: messageId(`old-${nth}`), parts: [{ type: 'text', text: 'old' }] }
      return { type: 'message-added', role: 'user', at: 1, ...said } as NewEvent
    })
    await commitAppend(opened, { threadId, events, expectedSeq: 0 })
    recover = () => holdfast.recover()
    const message = { id: 'edit', parts: [{ type: 'text', text: 'charge me' }] } as const
    await holdfast.send({ threadId, message, replaces: 'old-0' })
    go.open()
    await fixture.holdfast.settled()
    expect(fixture.log.filter(({ type }) => type === 'turn-started')).toHaveLength(1)
    expect(charged).toBe(1)
  })

  it('[CR2 LG1] lets a run write nothing to a thread that was made anew under its id', async () => {
    const store = memory()
    const go = gate<string>()
    const begun = gate()
    const slow = tool({
      inputSchema: z.object({}),
      execute: () => {
        begun.open()
        return go.opened
      },
    })
    const late = await createFixture(() => [{ call: 'slow', input: {} }], {
      store,
      tools: { slow },
    })
    const { threadId } = late
    await late.send('go')
    await begun.opened
    const { ownerId, title } = (await store.readThread(threadId)) ?? {}
    await store.deleteThread(threadId)
    await store.createThread({ id: threadId, ownerId: ownerId!, title: title!, at: 1 })
    go.open('too late')
    await late.holdfast.settled()
    expect(await store.readThread(threadId)).toMatchObject({ seq: 0 })
    expect(late.log.some(({ type }) => type === 'turn-lost')).toBe(true)
  })

  it('[ST1 RS7] lets another server stop a run', async () => {
    const store = memory()
    const here = await startLongRun(store)
    const there = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
    expect(await there.stop(here.threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect((await here.last()).progress).toMatchObject({ ending: { kind: 'stopped' } })
    await there.close()
  })

  it('[CR5] hands its runs over when it closes', async () => {
    const store = memory()
    const here = await startLongRun(store)
    await here.holdfast.close()
    const there = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'finished' }]),
      recoverEveryMs: 0,
    })
    expect(await there.recover()).toBe(1)
    await there.settled()
    expect((await here.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
    await there.close()
  })
})
