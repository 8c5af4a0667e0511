import { describe, expect, it } from 'vitest'
import { inDoubt, openCommitter as open } from '../../test/support/committer-harness.ts'
import { settled } from '../../test/support/scripted-clock.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { PlannedCommit } from '../store/plan-commit.ts'

describe('a store that gives no answer', () => {
  it('[LG3a HT1] is not ready after three seconds, and nobody but a run waits behind it', async () => {
    const { committer, run, person, createRunning, until, clock, commitDirectly, told } = open()
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
    expect([told(), committer.problem()]).toEqual([{}, null])
    await clock.advance(1)
    expect(committer.problem()).toEqual({ kind: 'commits-waiting', ms: 3_000 })
    person('p2')
    await settled()
    expect(told()).toEqual({ p1: 'store-unreachable', p2: 'store-unreachable' })
    gate.resolve()
    await settled()
    expect(told()).toMatchObject({ r1: 'appended', r2: 'appended' })
    expect([committer.saving, committer.problem(), clock.timers()]).toEqual(['ok', null, []])
  })

  it('[LG3b] says that it has to look for it: runs bring the same commit again, others are told of the doubt', async () => {
    const { run, person, createRunning, until, clock, told, groups } = open()
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
    expect(told()).toEqual({ p: 'store-unreachable' })
    until(null)
    await clock.advance(100)
    expect(told()).toMatchObject({ r: 'appended' })
    expect(groups).toEqual([['r', 'p'], ['r']])
  })
})

it('[LG3a] a fault of before says nothing about a write that comes later, whoever else is writing', async () => {
  const { person, until, told, commitDirectly } = open()
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
  expect(told()).toEqual({ a: 'store-failed', b: 'appended', c: 'appended' })
})

describe('a store whose disk is full', () => {
  it('[LG3a HT1] is not ready until something was stored, or for as long as nobody tries', async () => {
    const { committer, person, submit, until, clock, told } = open()
    const full = new HoldfastError('store-full', 'Full.', { isTemporary: true })
    until(() => Promise.reject(full))
    person('p')
    await settled()
    expect(told()).toEqual({ p: 'store-full' })
    expect(committer.problem()).toEqual({ kind: 'fault', fault: full })
    until(null)
    // What writes nothing does not show that there is room.
    submit('nobody', { events: [], create: undefined as never })
    await settled()
    expect(committer.problem()).toEqual({ kind: 'fault', fault: full })
    await clock.advance(15_000)
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
  })
})
