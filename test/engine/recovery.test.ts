import { tool } from 'ai'
import {
  callsOf,
  type CallId,
  createHoldfast,
  type Holdfast,
  memory,
  type MessageId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
  type ThreadId,
  type Turn,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { crash, lastTurn } from './crash.ts'
import { gate } from './fixture.ts'

const isRunning = (turn: Turn) => [...callsOf(turn)].some(({ state }) => state === 'running')

describe('after a crash', () => {
  it('[CR5] carries the turn on from its last durable step, in the same message', async () => {
    const { turn } = await crash(
      {
        script: [{ text: 'Half a sent' }, { waitMs: 60_000 }],
        after: [{ text: 'Something else.' }],
      },
      ({ steps }) => steps[0]?.parts[0] !== undefined,
    )
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    // The broken attempt stays where it stood, and is not the answer.
    expect(turn.steps).toMatchObject([
      { status: 'abandoned', parts: [{ text: 'Half a sent', state: 'done' }] },
      { status: 'ended', parts: [{ text: 'Something else.' }] },
    ])
  })

  it('[CR4] runs a repeatable tool again', async () => {
    let runs = 0
    const forever = tool({
      inputSchema: z.object({}),
      execute: () => (++runs === 1 ? new Promise<string>(() => {}) : 'second time'),
    })
    const { turn } = await crash(
      {
        script: [{ call: 'forever', input: {} }],
        options: { tools: { forever }, policies: { forever: { repeatable: true } } },
      },
      isRunning,
    )
    expect(runs).toBe(2)
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'succeeded', output: { value: 'second time' } },
    ])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  const charge = () => {
    const log: string[] = []
    const hold = gate<string>()
    const card = tool({
      inputSchema: z.object({}),
      execute: () => {
        log.push('charged')
        return log.length === 1 ? hold.opened : 'charged again'
      },
    })
    return {
      log,
      crashed: () =>
        crash({ script: [{ call: 'card', input: {} }], options: { tools: { card } } }, isRunning),
    }
  }
  const resolve = async (
    holdfast: Holdfast,
    turn: Turn,
    resolution: 'retry' | 'done' | 'skip',
    result?: string,
  ) => {
    const [call] = callsOf(turn)
    const request = {
      threadId: 'thread-1' as never,
      callId: call?.id as CallId,
      by: 'ann',
      resolution,
    }
    const answer = await holdfast.resolve(result === undefined ? request : { ...request, result })
    await holdfast.settled()
    return answer
  }

  it('[ST1a CR3] a stop ends the waiting for a word about it, and the outcome stays unknown', async () => {
    const { log, crashed } = charge()
    const { turn, holdfast, store, threadId } = await crashed()
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'resolution' })
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'idle', held: 0 })
    const after = await lastTurn(store)
    expect(after.progress).toMatchObject({ ending: { kind: 'stopped' } })
    expect([...callsOf(after)]).toMatchObject([{ state: 'unknown', cause: 'crashed' }])
    expect(log).toEqual(['charged'])
  })

  it('[CR3 CR4] calls what had started unknown, runs it at most once, and waits for a person', async () => {
    const { log, crashed } = charge()
    const { turn, holdfast, store } = await crashed()
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'resolution' })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'unknown', cause: 'crashed' }])
    expect(log).toEqual(['charged'])
    expect(await resolve(holdfast, turn, 'done', 'receipt 7')).toEqual({ kind: 'resolved' })
    const after = await lastTurn(store)
    expect([...callsOf(after)]).toMatchObject([
      { state: 'succeeded', output: { value: 'receipt 7' } },
    ])
    expect(after.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(log).toEqual(['charged'])
    expect(await resolve(holdfast, turn, 'retry')).toMatchObject({
      kind: 'already-resolved',
      resolution: { kind: 'done', by: 'ann' },
      state: 'succeeded',
    })
  })

  it('[CR3] runs it again when a person says so', async () => {
    const { log, crashed } = charge()
    const { turn, holdfast, store } = await crashed()
    expect(await resolve(holdfast, turn, 'retry')).toEqual({ kind: 'resolved' })
    expect(log).toEqual(['charged', 'charged'])
    expect([...callsOf(await lastTurn(store))]).toMatchObject([
      { state: 'succeeded', output: { value: 'charged again' }, resolution: { by: 'ann' } },
    ])
  })

  it('[CR3] leaves it unknown and goes on when a person skips it', async () => {
    const { log, crashed } = charge()
    const { turn, holdfast, store } = await crashed()
    expect(await resolve(holdfast, turn, 'skip')).toEqual({ kind: 'resolved' })
    const after = await lastTurn(store)
    expect([...callsOf(after)]).toMatchObject([{ state: 'unknown', resolution: { kind: 'skip' } }])
    expect(after.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect(log).toEqual(['charged'])
    expect(await resolve(holdfast, turn, 'done')).toMatchObject({
      kind: 'already-resolved',
      resolution: { kind: 'skip', by: 'ann' },
      state: 'unknown',
    })
  })

  it('[CR3] reports it to the model and goes on, where the host chose so', async () => {
    const card = tool({ inputSchema: z.object({}), execute: () => new Promise<string>(() => {}) })
    const { turn } = await crash(
      {
        script: [{ call: 'card', input: {} }],
        options: { tools: { card }, unknownOutcome: 'tell-model' },
      },
      isRunning,
    )
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([{ state: 'unknown' }])
  })

  it('[CR3] ends the turn as interrupted, where recovery is off', async () => {
    const { turn } = await crash(
      { script: [{ text: 'Half' }, { waitMs: 60_000 }], options: { recovery: 'end' } },
      ({ steps }) => steps[0]?.parts[0] !== undefined,
    )
    expect(turn.progress).toMatchObject({ ending: { kind: 'interrupted' } })
  })

  it('[CR5] fails a call whose tool is gone since, and goes on', async () => {
    const forever = tool({
      inputSchema: z.object({}),
      execute: () => new Promise<string>(() => {}),
    })
    const quick = tool({ inputSchema: z.object({}), execute: () => 'done' })
    const { turn } = await crash(
      {
        script: [
          { call: 'forever', input: {} },
          { call: 'gone', input: {} },
        ],
        options: {
          tools: { forever, gone: quick },
          policies: { forever: { repeatable: true } },
          toolConcurrency: 1,
        },
        optionsAfter: { tools: { forever: quick } },
      },
      isRunning,
    )
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'succeeded' },
      { state: 'failed', cause: 'unknown-tool' },
    ])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })
})

describe('a dead run that cannot be taken over now', () => {
  it('[CR2 OP7] keeps nobody from taking over the others', async () => {
    const shared = memory({ isAlive: (holder) => holder !== 'dead' })
    const first = createHoldfast({
      store: shared,
      model: scriptedModel(() => [{ waitMs: 3_600_000 }]),
      holder: 'dead',
      leaseMs: 3_600_000,
      recoverEveryMs: 0,
    })
    const ids = ['one', 'two', 'three'].map((name) => parseThreadId(name))
    const started = new Map<ThreadId, MessageId>()
    for (const threadId of ids) {
      const sent = await first.send({
        threadId,
        message: { id: parseMessageId('message'), parts: [{ type: 'text', text: 'go' }] },
        create: { ownerId: parseOwnerId('owner'), title: '' },
      })
      if (sent.kind === 'started') started.set(threadId, sent.turnId)
    }
    const [blocked, ...free] = ids
    const store: Store = {
      ...shared,
      async findTurn(turnId, results) {
        if (turnId === started.get(blocked!)) throw new Error('Its row is locked.')
        return shared.findTurn(turnId, results)
      },
    }
    const second = createHoldfast({
      store,
      model: scriptedModel(() => [{ text: 'carried on' }]),
      recoverEveryMs: 0,
    })
    onTestFinished(async () => {
      await second.close()
      await first.close()
    })
    // Whoever asked is told of it.
    await expect(second.recover()).rejects.toThrow('locked')
    await second.settled()
    for (const threadId of free) {
      expect((await lastTurn(shared, threadId)).progress).toMatchObject({ status: 'ended' })
    }
    expect((await lastTurn(shared, blocked)).progress).toMatchObject({ status: 'running' })
  })
})

it('[CR1 CR2] a run that was found dead before the next turn began does not end the lease of that turn', async () => {
  const alive = new Set(['first', 'second'])
  const shared = memory({ isAlive: (holder) => alive.has(holder) })
  const threadId = parseThreadId('thread')
  const answers = [[{ text: 'done' }], [{ waitMs: 3_600_000 }]]
  const first = createHoldfast({
    store: shared,
    model: scriptedModel(() => answers.shift() ?? []),
    holder: 'first',
    recoverEveryMs: 0,
  })
  const send = (id: string) =>
    first.send({
      threadId,
      message: { id: parseMessageId(id), parts: [{ type: 'text', text: 'go' }] },
      create: { ownerId: parseOwnerId('owner'), title: '' },
    })
  const sent = await send('one')
  if (sent.kind !== 'started') throw new Error(sent.kind)
  await first.settled()
  await send('two')
  alive.delete('first')
  const [current] = await shared.findAbandonedRuns(1)
  if (current === undefined) throw new Error('The second turn has no lease.')
  const ended = { ...current, turnId: sent.turnId, fence: current.fence - 1 }
  const lists = [[ended]]
  const second = createHoldfast({
    store: {
      ...shared,
      findAbandonedRuns: async (limit, only) =>
        lists.shift() ?? shared.findAbandonedRuns(limit, only),
    },
    model: scriptedModel(() => [{ text: 'carried on' }]),
    holder: 'second',
    recoverEveryMs: 0,
  })
  onTestFinished(async () => {
    await second.close()
    await first.close()
  })
  await second.recover()
  await second.recover()
  await second.settled()
  expect((await lastTurn(shared, threadId)).progress).toMatchObject({
    status: 'ended',
    ending: { kind: 'completed' },
  })
})
