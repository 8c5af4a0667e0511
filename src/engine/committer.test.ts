import { describe, expect, it } from 'vitest'
import {
  inDoubt,
  openCommitter as open,
  type Reaction,
  temporary,
} from '../../test/support/committer-harness.ts'
import { settled } from '../../test/support/scripted-clock.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { AppendResult } from '../store/store.ts'

describe('a group', () => {
  it('[LG1] is whatever waits; the next one fills while it is under way', async () => {
    const { submit, groups, told, seen, until, commitDirectly } = open()
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      await gate.promise
      return commitDirectly(plans)
    })
    for (const name of ['a', 'b', 'c']) submit(name)
    await settled()
    for (const name of ['d', 'e']) submit(name)
    await settled()
    expect(groups).toEqual([['a', 'b', 'c']])
    expect(told()).toEqual({})
    gate.resolve()
    await settled()
    expect(groups).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    expect(Object.values(told())).toEqual(Array.from({ length: 5 }, () => 'appended'))
    expect(seen).toEqual([
      [3, 3],
      [2, 2],
    ])
  })

  it('[LG3] has members that are refused by themselves', async () => {
    const { submit, told, stored } = open()
    submit('a')
    submit('stale', { expectedSeq: 5, create: undefined as never })
    submit('b')
    await settled()
    expect(told()).toEqual({ a: 'appended', stale: 'no-thread', b: 'appended' })
    submit('a', { expectedSeq: 9 })
    submit('c')
    await settled()
    expect(told()).toMatchObject({ a: 'stale', c: 'appended' })
    expect([await stored('a'), await stored('c')]).toEqual([1, 1])
  })

  it('[LG3] of which the store tells too little: who was told nothing is told so', async () => {
    const { submit, told, until, commitDirectly } = open()
    until(async (plans) => (await commitDirectly(plans)).slice(0, 1))
    submit('a')
    submit('b')
    await settled()
    expect(told()).toEqual({ a: 'appended', b: 'store-failed' })
  })
})

describe('a thread whose row is held', () => {
  const held =
    (name: string, commit: Reaction): Reaction =>
    async (plans) => {
      const free = plans.filter(({ append }) => append.threadId !== name)
      const results = [...(await commit(free))]
      return plans.map((each) =>
        free.includes(each) ? (results.shift() as AppendResult) : { kind: 'busy' },
      )
    }

  it('[LG3a] is tried again by itself, and nobody waits for it', async () => {
    const { submit, told, groups, until, commitDirectly, clock } = open()
    until(held('b', commitDirectly))
    for (const name of ['a', 'b', 'c']) submit(name)
    await settled()
    expect(told()).toEqual({ a: 'appended', c: 'appended' })
    expect(clock.timers()).toEqual([20])
    submit('d')
    await clock.advance(20)
    expect(told()).toEqual({ a: 'appended', c: 'appended', d: 'appended' })
    expect(groups).toEqual([['a', 'b', 'c'], ['d'], ['b']])
    until(null)
    await clock.advance(40)
    expect(told()).toMatchObject({ b: 'appended' })
    expect(groups.at(-1)).toEqual(['b'])
    expect(clock.timers()).toEqual([])
  })

  it.each([
    ['person', 5_000],
    ['run', 60_000],
  ] as const)(
    '[LG3a] for too long: a %s is told so, and nothing of it was stored',
    async (who, limitMs) => {
      const engine = open()
      const { createRunning, told, until, commitDirectly, clock, stored } = engine
      await createRunning('b')
      until(held('b', commitDirectly))
      engine[who]('b')
      await clock.advance(limitMs - 1)
      expect(told()).toEqual({})
      // The longest pause between two tries.
      await clock.advance(501)
      expect(told()).toEqual({ b: 'store-locked' })
      expect(await stored('b')).toBe(0)
      expect(clock.timers()).toEqual([])
    },
  )

  it('[LG3a HT1] counts as interrupted where nothing else gets through, and a server with several of them is not ready', async () => {
    const { committer, run, createRunning, until, clock, commitDirectly, told } = open()
    await createRunning('a', 'b')
    until(async (plans) => plans.map(() => ({ kind: 'busy' })))
    run('a')
    await clock.advance(4_000)
    expect([committer.saving, committer.problem()]).toEqual(['interrupted', null])
    run('b')
    await clock.advance(10)
    expect(committer.problem()).toMatchObject({ kind: 'commits-waiting' })
    until(held('b', commitDirectly))
    await clock.advance(500)
    // One of them is through: the other's lock is its own.
    expect(told()).toEqual({ a: 'appended' })
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
  })
})

describe('a store that takes nothing for now', () => {
  it('[LG3a] is waited for by runs; whoever else writes is told at once', async () => {
    const { committer, run, person, createRunning, told, until, clock, groups, stored } = open()
    await createRunning('r1', 'r2', 'r3')
    until(() => Promise.reject(temporary()))
    run('r1')
    person('p1')
    run('r2')
    await settled()
    expect(told()).toEqual({ p1: 'store-locked' })
    expect(committer.saving).toBe('interrupted')
    // Behind a write that is tried again: a run waits, a person does not.
    person('p2')
    run('r3')
    await settled()
    expect(told()).toEqual({ p1: 'store-locked', p2: 'store-locked' })
    await clock.advance(250)
    expect(groups).toEqual([
      ['r1', 'p1', 'r2'],
      ['r1', 'r2'],
      ['r1', 'r2'],
    ])
    until(null)
    await clock.advance(50)
    expect(told()).toMatchObject({ r1: 'appended', r2: 'appended', r3: 'appended' })
    expect(groups.slice(3)).toEqual([['r1', 'r2'], ['r3']])
    expect(committer.saving).toBe('ok')
    expect([await stored('r1'), await stored('p1')]).toEqual([1, null])
    person('p3')
    await settled()
    expect(told()).toMatchObject({ p3: 'appended' })
  })

  it('[LG3a] is waited for for a minute', async () => {
    const { run, createRunning, told, until, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await clock.advance(59_900)
    expect(told()).toEqual({})
    await clock.advance(100)
    expect(told()).toEqual({ r: 'store-locked' })
    expect(clock.timers()).toEqual([])
  })

  it('[LG3a] is not waited for by a process that goes', async () => {
    const { committer, run, createRunning, told, until, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await settled()
    committer.stopWaiting()
    await settled()
    expect(told()).toEqual({ r: 'store-locked' })
    expect(clock.timers()).toEqual([])
  })

  it('[LG3a] counts as interrupted also while a write takes longer than a second', async () => {
    const { committer, person, until, clock, commitDirectly, told } = open()
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      await gate.promise
      return commitDirectly(plans)
    })
    person('p')
    await settled()
    const before = committer.saving
    await clock.advance(1_000)
    expect([before, committer.saving]).toEqual(['ok', 'interrupted'])
    gate.resolve()
    await settled()
    expect([committer.saving, told()]).toEqual(['ok', { p: 'appended' }])
  })
})

describe('a commit of which nobody knows whether it was stored', () => {
  it.each([
    ['the store says so', inDoubt, 'store-failed'],
    ['it throws something', () => new Error('socket hang up'), 'socket hang up'],
    ['the store was closed', () => new HoldfastError('store-closed', 'Closed.'), 'store-closed'],
  ])('[LG3] [LG3a] is not tried again by anybody: %s', async (_, fault, words) => {
    const { run, person, createRunning, told, until, groups, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(fault()))
    run('r')
    person('p')
    await settled()
    expect(told()).toEqual({ r: words, p: words })
    await clock.advance(60_000)
    expect(groups).toHaveLength(1)
    // The next one has its own fate.
    until(null)
    person('q')
    await settled()
    expect(told()).toMatchObject({ q: 'appended' })
  })

  it('[LG3] comes after a try that certainly stored nothing: the run is told of the doubt', async () => {
    const { run, createRunning, told, until, groups, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await settled()
    until(() => Promise.reject(inDoubt()))
    await clock.advance(100)
    expect([told(), groups.length]).toEqual([{ r: 'store-failed' }, 2])
  })
})
