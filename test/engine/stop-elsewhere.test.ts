import {
  createHoldfast,
  memory,
  type NewEvent,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Store,
} from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { planTurnEnd } from '../../src/core/plan-turn-end.ts'
import { commitAppend } from '../../src/store/commit-group.ts'
import { lastTurn } from './crash.ts'

const threadId = parseThreadId('thread-1')

const begun = (name: string): readonly NewEvent[] => {
  const messageId = parseMessageId(`question-${name}`)
  const parts = [{ type: 'text', text: 'go' }] as const
  return [
    { type: 'message-added', messageId, role: 'user', parts, at: 1 },
    { type: 'turn-started', turnId: parseMessageId(name), replyTo: messageId, at: 1 },
  ]
}

const leaseOf = (name: string, holder: string) =>
  ({ kind: 'acquire', holder, ttlMs: 3_600_000, turnId: parseMessageId(name) }) as const

/**
 * A turn that runs in a process which neither notices a stop nor renews its lease, and the process that stops it, whose
 * store is `shared` with these changes.
 */
async function startElsewhere(shared: Store, changes: Partial<Store>) {
  await shared.createThread({ id: threadId, ownerId: parseOwnerId('owner'), title: '', at: 1 })
  const place = { threadId, expectedSeq: 0 }
  const lease = leaseOf('first', 'elsewhere')
  await commitAppend(shared, { ...place, events: begun('first'), lease })
  const holdfast = createHoldfast({
    store: { ...shared, ...changes },
    model: scriptedModel(() => [{ text: 'carried on' }]),
    holder: 'here',
    leaseMs: 100,
    recoverEveryMs: 0,
  })
  onTestFinished(() => holdfast.close())
  return holdfast
}

it('[ST1 CR2] a stop that takes a turn over and cannot store its end leaves it to be taken up by its own process', async () => {
  const shared = memory({ isAlive: () => true })
  let isFull = true
  const holdfast = await startElsewhere(shared, {
    commit: (commits) => {
      const hasEvents = commits.some(({ numbered }) => numbered.length > 0)
      return isFull && hasEvents ? Promise.reject(new Error('disk full')) : shared.commit(commits)
    },
  })
  await expect(holdfast.stop(threadId)).rejects.toThrow('disk full')
  expect((await lastTurn(shared)).progress).toEqual({ status: 'running' })
  isFull = false
  expect(await holdfast.recover()).toBe(1)
  await holdfast.settled()
  expect((await lastTurn(shared)).progress).toMatchObject({ status: 'ended' })
  expect(await holdfast.recover()).toBe(0)
})

it('[ST1 CR1] a stop that is overtaken by the next turn leaves the lease of that turn alone', async () => {
  const shared = memory({ isAlive: (holder) => (holder === 'dead' ? false : undefined) })
  let isOvertaken = false
  const holdfast = await startElsewhere(shared, {
    async findTurn(turnId, results) {
      const found = await shared.findTurn(turnId, results)
      if (found === null || isOvertaken) return found
      isOvertaken = true
      const { seq: expectedSeq, turn } = found
      const events = [...planTurnEnd(turn, { kind: 'completed' }, 1), ...begun('second')]
      const lease = { ...leaseOf('second', 'dead'), overFence: await fenceIn(shared) }
      await commitAppend(shared, { threadId, expectedSeq, turns: [turn], events, lease })
      return found
    },
  })
  await holdfast.stop(threadId)
  expect(await lastTurn(shared)).toMatchObject({ id: 'second', progress: { status: 'running' } })
  expect(await holdfast.recover()).toBe(1)
  await holdfast.settled()
  expect((await lastTurn(shared)).progress).toMatchObject({ ending: { kind: 'completed' } })
})

async function fenceIn(store: Store): Promise<number> {
  const lease = await store.requestStop(threadId)
  if (lease.kind !== 'requested') throw new Error(lease.kind)
  return lease.fence
}
