import { describe, expect, it } from 'vitest'
import { inDoubt, openCommitter as open } from '../../../test/support/committer-harness.ts'
import { settled } from '../../../test/support/scripted-clock.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
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
  it('[LG3a HT1] is not ready until something was stored, or the fault is forgotten', async () => {
    const { committer, person, submit, until, clock, results } = open()
    const full = new HoldfastError('store-full', 'Full.', { isTemporary: true })
    until(() => Promise.reject(full))
    person('p')
    await settled()
    expect(results()).toEqual({ p: 'store-full' })
    expect(committer.problem()).toEqual({ kind: 'fault', fault: full })
    until(null)
    // A write that stores nothing does not show that there is room.
    submit('nobody', { events: [], create: undefined as never })
    await settled()
    expect(committer.problem()).toEqual({ kind: 'fault', fault: full })
    await clock.advance(15_000)
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
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
