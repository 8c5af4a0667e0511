import { tool } from 'ai'
import {
  callsOf,
  createHoldfast,
  type Frame,
  foldThread,
  type Holdfast,
  memory,
  parseMessageId,
  parseOwnerId,
  type PlannedCommit,
  type Store,
  type ThreadView,
  type Turn,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { systemClock } from '../../src/engine/clock.ts'
import { createFixture, tools } from './fixture.ts'

const script = ({ index }: { readonly index: number }) =>
  index === 0
    ? [
        { text: 'Let me look that up for you.', pieces: 7 },
        { waitMs: 30 },
        { call: 'echo', input: { value: [1, 2] }, streamed: true },
        { call: 'echo', input: { value: 'b' } },
      ]
    : [{ text: 'Here is the answer.', pieces: 5 }]

async function collect(holdfast: Holdfast, after: number, until: number): Promise<Frame[]> {
  const frames: Frame[] = []
  const stop = new AbortController()
  for await (const frame of holdfast.subscribe('thread-1', after, stop.signal)) {
    frames.push(frame)
    if (frame.seq >= until || frame.turn?.progress.status === 'ended') stop.abort()
  }
  return frames
}

const view = (frames: readonly Frame[]): ThreadView =>
  frames.reduce((before, frame) => foldThread(before, frame.changes), {
    seq: 0,
    messages: [],
  } as ThreadView)

describe('a follower', () => {
  it('[RS2] who comes while the turn runs here reads nothing that was just committed', async () => {
    const store = memory()
    let reads = 0
    const counting = {
      ...store,
      readChanges: (query: Parameters<typeof store.readChanges>[0]) => {
        reads++
        return store.readChanges(query)
      },
    }
    const fixture = await createFixture(script, { tools: tools(), store: counting })
    const sent = await fixture.send('go')
    if (sent.kind !== 'started') throw new Error(sent.kind)
    const stop = new AbortController()
    let turn: Turn | undefined = sent.turn
    for await (const frame of fixture.holdfast.subscribe(
      fixture.threadId,
      sent.turn.lastSeq,
      stop.signal,
    )) {
      turn = frame.turn
      if (turn?.progress.status === 'ended') stop.abort()
    }
    expect(reads).toBe(0)
    expect(turn).toEqual(await fixture.last())
    // Afterwards nothing is kept, and what comes is read.
    await fixture.holdfast.settled()
    const frames = await collect(fixture.holdfast, 0, turn?.lastSeq ?? 0)
    expect(reads).toBeGreaterThan(0)
    expect(view(frames).messages).toEqual(await fixture.messages())
  })

  it('[LG2 RS2] receives what is stored while the next write of the run is under way', async () => {
    const store = memory()
    const gate = Promise.withResolvers<void>()
    const isResult = ({ append }: PlannedCommit) =>
      append.events.some(({ type }) => type === 'call-settled')
    const slow: Store = {
      ...store,
      async commit(commits) {
        if (commits.some(isResult)) await gate.promise
        return store.commit(commits)
      },
    }
    const fixture = await createFixture(script, { tools: tools(), store: slow })
    const sent = await fixture.send('go')
    if (sent.kind !== 'started') throw new Error(sent.kind)
    const stop = new AbortController()
    const states: string[] = []
    for await (const { turn } of fixture.holdfast.subscribe(
      fixture.threadId,
      sent.turn.lastSeq,
      stop.signal,
    )) {
      const [state] = turn === undefined ? [] : [...callsOf(turn)].map((call) => call.state)
      if (state !== undefined) states.push(state)
      // The results are not stored yet, and their write goes on only now.
      if (state === 'running') gate.resolve()
      if (turn?.progress.status === 'ended') stop.abort()
    }
    expect(states).toContain('running')
    expect(states.at(-1)).toBe('succeeded')
  })

  it('[RS2] is notified in time by a run that writes without a pause', async () => {
    const steps = 60
    let ticks = 0
    const fixture = await createFixture(
      ({ index }) =>
        index < steps ? [{ call: 'echo', input: { value: index } }] : [{ text: 'done' }],
      { tools: tools(), maxSteps: steps + 1, clock: { ...systemClock, elapsed: () => ++ticks } },
    )
    const sent = await fixture.send('go')
    if (sent.kind !== 'started') throw new Error(sent.kind)
    const frames = await collect(fixture.holdfast, sent.turn.lastSeq, Number.MAX_SAFE_INTEGER)
    expect(frames.length).toBeGreaterThan(steps / 2)
  })

  it('[RS2] of a thread that was made anew is not ended by the run of the old one', async () => {
    const answered = Promise.withResolvers<void>()
    const slow = tool({
      inputSchema: z.object({}),
      execute: () => answered.promise.then(() => 'late'),
    })
    const fixture = await createFixture(
      ({ prompt }) =>
        JSON.stringify(prompt).includes('slow')
          ? [{ call: 'slow', input: {} }]
          : [{ text: 'anew' }],
      { tools: tools({ slow }) },
    )
    const { holdfast, store, threadId } = fixture
    await fixture.send('slow', 'old')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && turn.steps.length > 0
    })
    await store.deleteThread(threadId)
    const sent = await holdfast.send({
      threadId,
      message: { id: parseMessageId('new'), parts: [{ type: 'text', text: 'quick' }] },
      create: { ownerId: parseOwnerId('owner'), title: '' },
    })
    if (sent.kind !== 'started') throw new Error(sent.kind)
    const frames = await collect(holdfast, sent.turn.lastSeq, sent.turn.lastSeq + 5)
    expect(frames.at(-1)?.turn?.progress.status).toBe('ended')
    answered.resolve()
    await holdfast.settled()
    expect((await fixture.last()).progress.status).toBe('ended')
  })

  it('[RS2] who comes when the engine has been closed is let go at once', async () => {
    const fixture = await createFixture(() => [{ text: 'a' }])
    await fixture.runTurn('go')
    await fixture.holdfast.close()
    const frames: Frame[] = []
    for await (const frame of fixture.holdfast.subscribe(fixture.threadId, 0)) frames.push(frame)
    expect(view(frames).messages).toEqual(await fixture.messages())
  })

  it('[RS2 LG4] gets every change once, in order, each frame saying what it follows', async () => {
    const fixture = await createFixture(script, { tools: tools() })
    const live: Frame[] = []
    const stop = new AbortController()
    const following = (async () => {
      for await (const frame of fixture.holdfast.subscribe(fixture.threadId, 0, stop.signal)) {
        live.push(frame)
        const turn = view(live).messages.at(-1)
        if (turn?.role === 'assistant' && turn.progress.status === 'ended') stop.abort()
      }
    })()
    await fixture.runTurn('go')
    await following
    let at = 0
    for (const frame of live) {
      expect(frame.after).toBe(at)
      at = frame.seq
    }
    expect(live.length).toBeGreaterThan(1)
    expect(view(live).messages).toEqual(await fixture.messages())
  })

  it('[RS2] can begin again at every seq and still ends with the same messages', async () => {
    const fixture = await createFixture(script, { tools: tools() })
    await fixture.runTurn('go')
    const { seq } = (await fixture.store.readThread(fixture.threadId)) ?? { seq: 0 }
    const all = view(await collect(fixture.holdfast, 0, seq))
    expect(all.messages).toEqual(await fixture.messages())
    for (let after = 0; after < seq; after++) {
      const frames = await collect(fixture.holdfast, after, seq)
      expect(frames[0]?.after).toBe(after)
      expect(frames.at(-1)?.seq).toBe(seq)
    }
  })

  it('[RS2 RS7] follows from another process, by notifications and reads alone', async () => {
    const store = memory()
    const fixture = await createFixture(script, { store, tools: tools() })
    const other = createHoldfast({ store, model: scriptedModel(() => []), recoverEveryMs: 0 })
    const seen: ThreadView[] = []
    const stop = new AbortController()
    const following = (async () => {
      let held: ThreadView = { seq: 0, messages: [] }
      for await (const frame of other.subscribe(fixture.threadId, 0, stop.signal)) {
        held = foldThread(held, frame.changes)
        seen.push(held)
        const turn = held.messages.at(-1)
        if (turn?.role === 'assistant' && turn.progress.status === 'ended') stop.abort()
      }
    })()
    await fixture.runTurn('go')
    await following
    expect(seen.length).toBeGreaterThan(3)
    expect(seen.at(-1)?.messages).toEqual(await fixture.messages())
    await other.close()
  })

  it('[RS2] refuses a place that the thread has not reached, and a thread that is not there', async () => {
    const fixture = await createFixture(script, { tools: tools() })
    await expect(collect(fixture.holdfast, 5, 6)).rejects.toThrow(/ends at 0/)
    const nowhere = fixture.holdfast.subscribe('nowhere', 0)
    await expect(nowhere.next()).rejects.toThrow(/no such thread/)
  })

  it('[RS2] ends when the thread is deleted', async () => {
    const fixture = await createFixture(script, { tools: tools() })
    const following = collect(fixture.holdfast, 0, Number.POSITIVE_INFINITY)
    await fixture.runTurn('go')
    await fixture.store.deleteThread(fixture.threadId)
    expect((await following).length).toBeGreaterThan(0)
  })

  it('[RS2] that is slow holds up nobody and misses nothing', async () => {
    const many = Array.from({ length: 1_500 }, (_, index) => ({ text: `${index} ` }))
    const fixture = await createFixture(() => many)
    const slow = fixture.holdfast.subscribe(fixture.threadId, 0)
    // It has begun, and then does not read until everything is over.
    const first = slow.next()
    await fixture.runTurn('go')
    const { seq } = (await fixture.store.readThread(fixture.threadId)) ?? { seq: 0 }
    const frames: Frame[] = []
    for (let next = await first; next.done !== true; next = await slow.next()) {
      frames.push(next.value)
      if (next.value.seq >= seq) break
    }
    await slow.return()
    expect(view(frames).messages).toEqual(await fixture.messages())
  })
})
