import { tool } from 'ai'
import {
  createHoldfast,
  HoldfastError,
  type LifecycleEvent,
  memory,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
} from 'holdfast'
import { type ScriptedCall, scriptedModel, type ScriptPart } from 'holdfast/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { PlannedCommit } from '../../src/store/plan-commit.ts'
import type { AppendResult } from '../../src/store/store.ts'
import { createScriptedClock, settled } from '../support/scripted-clock.ts'
import { gate, turnOf } from './fixture.ts'

const leaseMs = 5_000

type Commit = (commits: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>

const work: readonly ScriptPart[] = [{ text: 'Let me see.' }, { call: 'work', input: {} }]
const answer = ({ prompt }: ScriptedCall) =>
  prompt.at(-1)?.role === 'tool' ? [{ text: 'Done.' }] : work

/** An engine whose tool works until it is told to end, over a store of which each commit can be held or refused. */
async function open(threads: readonly string[], script = answer) {
  const clock = createScriptedClock()
  const inner = memory({ now: clock.now })
  let react: ((commits: readonly PlannedCommit[], commit: Commit) => ReturnType<Commit>) | null =
    null
  const store: Store = {
    ...inner,
    commit: (commits) =>
      react === null ? inner.commit(commits) : react(commits, (some) => inner.commit(some)),
  }
  const done = gate<string>()
  const log: LifecycleEvent[] = []
  const inputSchema = z.object({})
  const holdfast = createHoldfast({
    ...{ store, clock, leaseMs, recoverEveryMs: 0, holder: 'here' },
    model: scriptedModel(script),
    tools: {
      work: tool({ inputSchema, execute: () => done.opened }),
      ask: tool({ inputSchema, needsApproval: true, execute: () => 'asked' }),
    },
    hooks: (event) => void log.push(event),
  })
  const send = (thread: string, id: string = thread) =>
    holdfast.send({
      threadId: parseThreadId(thread),
      message: { id: parseMessageId(`message-${id}`), parts: [{ type: 'text', text: 'Do it.' }] },
    })
  for (const id of threads) {
    const created = { id: parseThreadId(id), ownerId: parseOwnerId('owner'), title: '', at: 1 }
    await store.createThread(created)
  }
  return {
    clock,
    store,
    holdfast,
    send,
    /** Ends the work of the tool. */
    finish: () => done.open('done'),
    until: (next: typeof react) => void (react = next),
    /** Runs that another server would take over now. */
    abandoned: async () =>
      (await inner.findAbandonedRuns(100)).map(({ threadId }) => threadId as string),
    lost: () => log.filter(({ type }) => type === 'turn-lost'),
    turns: async (thread: string) => {
      const query = { before: null, live: 'include', results: 'full', limit: 10 } as const
      const page = await inner.readPage({ threadId: parseThreadId(thread), ...query })
      const found = page?.messages.toReversed().filter(({ role }) => role === 'assistant') ?? []
      return found.map(turnOf)
    },
  }
}

const isRenewal = ({ size, append: { lease } }: PlannedCommit): boolean =>
  size === 0 && lease?.kind === 'hold' && lease.renewMs !== 0

/** Each of its own: what the store does with one commit of a group, and what with the others. */
const reactTo =
  (fits: (commit: PlannedCommit) => boolean, react: Commit) =>
  async (commits: readonly PlannedCommit[], commit: Commit): Promise<readonly AppendResult[]> => {
    const results = new Map<PlannedCommit, AppendResult>()
    const write = async (some: readonly PlannedCommit[], how: Commit) => {
      const answers = some.length === 0 ? [] : await how(some)
      for (const [index, each] of some.entries()) results.set(each, answers[index] as AppendResult)
    }
    await write(
      commits.filter((each) => !fits(each)),
      commit,
    )
    await write(commits.filter(fits), react)
    return commits.map((each) => results.get(each) as AppendResult)
  }

it('[CR2 LG3a] a thread whose row stays locked costs no other run of its process the lease', async () => {
  const { clock, holdfast, send, finish, until, abandoned, lost, turns } = await open([
    'locked',
    'other',
  ])
  await send('locked')
  await send('other')
  await clock.advance(100)
  const isLocked = ({ append }: PlannedCommit) => append.threadId === 'locked'
  until(reactTo(isLocked, async (commits) => commits.map(() => ({ kind: 'busy' }))))
  for (let passed = 0; passed < 4 * leaseMs; passed += 500) {
    await clock.advance(500)
    expect(await abandoned()).not.toContain('other')
  }
  expect(await abandoned()).toEqual(['locked'])
  // Nobody could acquire it meanwhile, and its own renewal is the first to find that the row is free.
  until(null)
  await clock.advance(500)
  expect(await abandoned()).toEqual([])
  finish()
  await clock.advance(100)
  await holdfast.settled()
  expect(lost()).toEqual([])
  for (const thread of ['locked', 'other']) {
    expect(await turns(thread)).toMatchObject([{ progress: { ending: { kind: 'completed' } } }])
  }
})

it.each(['a renewal', 'another commit'])(
  '[CR2 LG3b] no run loses its lease while %s gets no answer',
  async (which) => {
    const { clock, holdfast, send, finish, until, abandoned, lost, turns } = await open(['a', 'b'])
    await send('a')
    await send('b')
    await clock.advance(100)
    const silent = gate()
    let isFirst = true
    until(async (commits, commit) => {
      const isSilent = isFirst
      isFirst = false
      if (isSilent) await silent.opened
      return commit(commits)
    })
    const renamed =
      which === 'a renewal'
        ? undefined
        : holdfast.threads.update(parseThreadId('a'), { title: 'A' })
    for (let passed = 0; passed < 3 * leaseMs; passed += 500) {
      await clock.advance(500)
      expect(await abandoned()).toEqual([])
    }
    expect(isFirst).toBe(false)
    silent.open()
    await renamed
    finish()
    await clock.advance(100)
    await holdfast.settled()
    expect(lost()).toEqual([])
    for (const thread of ['a', 'b']) {
      expect(await turns(thread)).toMatchObject([{ progress: { ending: { kind: 'completed' } } }])
    }
  },
)

it('[ST1 RS7] a stop that is requested while a renewal is in flight is found as soon as that has its answer', async () => {
  const { clock, store, send, until, turns } = await open(['a'])
  await send('a')
  await clock.advance(100)
  const answered = gate()
  until(async (commits, commit) => {
    const results = await commit(commits)
    if (commits.some(isRenewal)) await answered.opened
    return results
  })
  // The row is read before the stop is requested, and the answer comes after it.
  await clock.advance(Math.ceil(leaseMs / 3))
  await store.requestStop(parseThreadId('a'))
  await settled()
  until(null)
  answered.open()
  await clock.advance(100)
  expect(await turns('a')).toMatchObject([{ progress: { ending: { kind: 'stopped' } } }])
})

it('[AP1 CR2] a turn that waits for a person is not lost to a renewal that its release overtakes', async () => {
  const { clock, holdfast, send, until, abandoned, lost, turns } = await open(['a'], () => [
    { call: 'ask', input: {} },
  ])
  const answered = gate()
  const isPause = ({ append }: PlannedCommit) =>
    append.events.some(({ type }) => type === 'turn-paused')
  // Stored, and the answer is late: the next renewal is sent before it comes, and refused.
  until(async (commits, commit) => {
    const results = await commit(commits)
    if (commits.some(isPause)) await answered.opened
    return results
  })
  await send('a')
  await clock.advance(leaseMs)
  expect(holdfast.running()).toEqual(['a'])
  answered.open()
  await holdfast.settled()
  expect([lost(), await abandoned()]).toEqual([[], []])
  expect(await turns('a')).toMatchObject([
    { progress: { status: 'waiting', waitingFor: 'approval' } },
  ])
})

it('[CR5 OP4] a run that is handed over is free at once, whatever renewal of it was in flight', async () => {
  const { clock, holdfast, send, until, abandoned } = await open(['a'])
  await send('a')
  await clock.advance(100)
  until(reactTo(isRenewal, async (commits) => commits.map(() => ({ kind: 'busy' }))))
  await clock.advance(leaseMs / 2)
  const closed = holdfast.close()
  await settled()
  until(null)
  await clock.advance(1_000)
  await closed
  expect(await abandoned()).toEqual(['a'])
})

it('[LG3a IN2] a run with a message queued behind it waits for the store at its end, as any other', async () => {
  const { clock, holdfast, send, finish, until, turns } = await open(['a'])
  expect((await send('a', 'first')).kind).toBe('started')
  expect((await send('a', 'second')).kind).toBe('queued')
  await clock.advance(100)
  let faults = 0
  const isEnd = ({ append }: PlannedCommit) =>
    append.events.some(({ type }) => type === 'turn-ended')
  until(async (commits, commit) => {
    if (!commits.some(isEnd) || faults === 3) return commit(commits)
    faults++
    throw new HoldfastError('store-unreachable', 'Away.', { isTemporary: true })
  })
  finish()
  await clock.advance(1_000)
  await holdfast.settled()
  expect(faults).toBe(3)
  const ended = {
    progress: { ending: { kind: 'completed' } },
    steps: [{}, { parts: [{ type: 'text', text: 'Done.' }] }],
  }
  expect(await turns('a')).toMatchObject([ended, ended])
})
