import { describe, expect, it } from 'vitest'
import { inDoubt, openCommitter as open } from '../../../test/support/committer-harness.ts'
import { settled } from '../../../test/support/scripted-clock.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import type { PlannedCommit } from '../../store/plan-commit.ts'

describe('a store that does not respond', () => {
  it('[LG3a HT1] is not ready after three seconds, and only runs wait behind it', async () => {
    const { committer, run, person, createRunning, until, clock, commitDirectly, results } = open()
    await createRunning('r1', 'r2')
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      await gate.promise
      return commitDirectly(plans)
    })
    run('r1')
    await clock.advance(1_000)
    person('p1')
    run('r2')
    await clock.advance(1_999)
    expect([results(), committer.problem()]).toEqual([{}, null])
    await clock.advance(1)
    expect(committer.problem()).toEqual({ kind: 'commits-waiting', ms: 3_000 })
    person('p2')
    await settled()
    expect(results()).toEqual({ p1: 'store-unreachable', p2: 'store-unreachable' })
    gate.resolve()
    await settled()
    expect(results()).toMatchObject({ r1: 'appended', r2: 'appended' })
    expect([committer.saving, committer.problem(), clock.timers()]).toEqual(['ok', null, []])
  })

  it('[LG3a] refuses a person in time although timers fire a little early', async () => {
    const { run, person, createRunning, until, clock, results } = open({ earlyMs: 0.4 })
    await createRunning('r')
    until(() => new Promise(() => {}))
    run('r')
    await clock.advance(1_000)
    person('p')
    await clock.advance(1_999)
    expect(results()).toEqual({})
    await clock.advance(1)
    expect([results(), clock.timers()]).toEqual([{ p: 'store-unreachable' }, []])
  })

  it('[LG3a] refuses a person in time who is queued behind one write after the other', async () => {
    const { run, person, createRunning, until, clock, results } = open()
    await createRunning('held', 'r')
    until(async (plans) => plans.map(() => ({ kind: 'busy' })))
    run('held')
    await settled()
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      if (plans.some(({ append }) => append.threadId === 'held')) return new Promise(() => {})
      await gate.promise
      return plans.map(() => ({ kind: 'busy' }))
    })
    // Both are in the queue when the next group is taken from it.
    run('r')
    await clock.advance(20)
    person('p')
    await clock.advance(2_900)
    gate.resolve()
    await clock.advance(2_999)
    expect(results()).toEqual({})
    await clock.advance(1)
    expect(results()).toEqual({ p: 'store-unreachable' })
  })

  it('[LG3b] reports a commit in doubt: runs retry the same commit, others get the error', async () => {
    const { run, person, createRunning, until, clock, results, groups } = open()
    await createRunning('r')
    const lost = new HoldfastError('store-unreachable', 'Lost.', { isInDoubt: true })
    const seen: PlannedCommit[] = []
    until((plans) => {
      seen.push(...plans)
      return Promise.reject(lost)
    })
    run('r')
    person('p')
    await settled()
    expect(results()).toEqual({ p: 'store-unreachable' })
    until(null)
    await clock.advance(100)
    expect(results()).toMatchObject({ r: 'appended' })
    expect(groups).toEqual([['r', 'p'], ['r']])
  })

  it('[LG3b LG3] reports a commit in doubt whose row is locked: nobody is told that nothing was stored', async () => {
    const { person, run, createRunning, until, clock, errorOf } = open()
    await createRunning('r', 'q')
    const isInDoubt = (name: string) => name !== 'q'
    until(async (plans) =>
      plans.map(({ append }) => ({ kind: 'busy', isInDoubt: isInDoubt(append.threadId) })),
    )
    person('p')
    run('r')
    run('q')
    await clock.advance(61_000)
    const doubtful = { code: 'store-unreachable', isInDoubt: true, isTemporary: false }
    expect(errorOf('p')).toMatchObject(doubtful)
    expect(errorOf('r')).toMatchObject(doubtful)
    expect(errorOf('q')).toMatchObject({ code: 'store-locked', isInDoubt: false })
  })

  it('[LG3b LG3] keeps a commit in doubt when a later attempt finds its row locked', async () => {
    const { run, createRunning, until, clock, errorOf } = open()
    await createRunning('r')
    const lost = new HoldfastError('store-unreachable', 'Lost.', { isInDoubt: true })
    until(() => Promise.reject(lost))
    run('r')
    await settled()
    until(async (plans) => plans.map(() => ({ kind: 'busy' })))
    await clock.advance(61_000)
    expect(errorOf('r')).toMatchObject({ isInDoubt: true, isTemporary: false })
  })

  it('[LG3b LG3] keeps a commit in doubt that is refused because the next write does not end', async () => {
    const { run, person, createRunning, until, clock, errorOf } = open()
    await createRunning('r')
    until(async (plans) => plans.map(() => ({ kind: 'busy', isInDoubt: true })))
    person('p')
    await settled()
    until(() => new Promise(() => {}))
    run('r')
    await clock.advance(1_000)
    person('q')
    await clock.advance(2_000)
    expect(errorOf('p')).toMatchObject({ isInDoubt: true, isTemporary: false })
    expect(errorOf('q')).toMatchObject({ isInDoubt: false, isTemporary: true })
  })
})

it('[LG3a IN2] a run is as patient where its end acquires the lease of the next turn', async () => {
  const { submit, createRunning, until, clock, results } = open()
  await createRunning('r')
  until(() => Promise.reject(new HoldfastError('store-full', 'Full.', { isTemporary: true })))
  const turnId = parseMessageId('next')
  const lease = { kind: 'acquire', holder: 'h', ttlMs: 5_000, turnId } as const
  submit('r', { lease: { ...lease, overFence: 1 } }, 'run')
  submit('p', { lease })
  await clock.advance(1_000)
  expect(results()).toEqual({ p: 'store-full' })
  until(async (plans) => plans.map(() => ({ kind: 'no-thread' })))
  await clock.advance(100)
  expect(results()).toEqual({ p: 'store-full', r: 'no-thread' })
})

it('[LG3a] an earlier fault does not fail a later write, whatever other writes are in flight', async () => {
  const { person, until, results, commitDirectly } = open()
  until(() => Promise.reject(inDoubt()))
  person('a')
  await settled()
  const gate = Promise.withResolvers<void>()
  until(async (plans) => {
    await gate.promise
    return commitDirectly(plans)
  })
  person('b')
  await settled()
  person('c')
  gate.resolve()
  await settled()
  expect(results()).toEqual({ a: 'store-failed', b: 'appended', c: 'appended' })
})

describe('a store whose disk is full', () => {
  const full = new HoldfastError('store-full', 'Full.', { isTemporary: true })
  const found = { kind: 'fault', fault: full }

  it('[LG3a HT1] is not ready until something was stored, however long ago the fault was', async () => {
    const { committer, person, submit, until, clock, results } = open()
    until(() => Promise.reject(full))
    person('p')
    await settled()
    expect(results()).toEqual({ p: 'store-full' })
    expect(committer.problem()).toEqual(found)
    until(null)
    // A write that stores nothing does not show that there is room.
    submit('nobody', { events: [], create: undefined as never })
    await settled()
    expect(committer.problem()).toEqual(found)
    await clock.advance(3_600_000)
    expect([committer.saving, committer.problem()]).toEqual(['ok', found])
    person('q')
    await settled()
    expect(committer.problem()).toBeNull()
  })

  it('[LG3a] is said to save again once a write shows it, also where nobody writes any more', async () => {
    const { submit, groups, until, committer, clock } = open()
    until(() => Promise.reject(new HoldfastError('store-failed', 'There are no tables.')))
    submit('a')
    await settled()
    for (const after of [14_999, 1, 15_000]) {
      await clock.advance(after)
      expect(committer.saving).toBe('interrupted')
      await settled()
    }
    // The write of somebody, and one after each time that the fault might have been over.
    expect(groups).toEqual([['a'], ['a'], ['a']])
    until(null)
    await clock.advance(15_000)
    expect(committer.saving).toBe('interrupted')
    await settled()
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
    expect(groups).toHaveLength(4)
  })

  it('[LG3a HT1] is ready again when a probe was stored, which leaves nothing behind', async () => {
    const { committer, person, until, clock, stored, groups } = open()
    const room = (name: string) =>
      committer.assertRoom(parseThreadId(name)).then(
        () => 'room',
        (error: unknown) => (error as HoldfastError).code,
      )
    until(() => Promise.reject(full))
    person('p')
    await settled()
    expect(await room('first')).toBe('store-full')
    until(null)
    // Whoever asks again at once gets the same answer: anybody may ask.
    expect([await room('second'), committer.problem()]).toEqual(['store-full', found])
    await clock.advance(1_000)
    expect([await room('third'), committer.problem()]).toEqual(['room', null])
    expect([await stored('third'), groups]).toEqual([null, [['p'], ['first'], ['third']]])
  })

  it('[LG3a] a probe fails by itself, not with what others write at the same time', async () => {
    const { committer, person, until, results, commitDirectly } = open()
    until((plans) =>
      plans.some(({ append }) => append.threadId === 'probe')
        ? Promise.reject(full)
        : commitDirectly(plans),
    )
    person('p')
    await expect(committer.assertRoom(parseThreadId('probe'))).rejects.toBe(full)
    person('q')
    await settled()
    expect(results()).toEqual({ p: 'appended', q: 'appended' })
  })
})

it.each([24, -24])(
  '[LG3a CR2] a run waits as long for its store when the clock is set by %i hours',
  async (hours) => {
    const { run, jump, createRunning, until, clock, results } = open()
    await createRunning('r', 'held')
    const full = new HoldfastError('store-full', 'Full.', { isTemporary: true })
    until(() => Promise.reject(full))
    run('r')
    await settled()
    jump(hours * 3_600_000)
    await clock.advance(59_000)
    expect(results()).toEqual({})
    await clock.advance(2_000)
    expect(results()).toEqual({ r: 'store-full' })
    // One whose row somebody else holds.
    until(async (plans) => plans.map(() => ({ kind: 'busy' })))
    run('held')
    await settled()
    jump(hours * 3_600_000)
    await clock.advance(59_000)
    expect(results()).toEqual({ r: 'store-full' })
    await clock.advance(2_000)
    expect(results()).toEqual({ r: 'store-full', held: 'store-locked' })
  },
)
