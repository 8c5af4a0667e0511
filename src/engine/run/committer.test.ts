import { describe, expect, it } from 'vitest'
import {
  inDoubt,
  openCommitter as open,
  type Reaction,
  temporary,
} from '../../../test/support/committer-harness.ts'
import { settled } from '../../../test/support/scripted-clock.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { parseMessageId } from '../../core/ids.ts'
import type { AppendResult } from '../../store/store.ts'

const manyMessages = Array.from({ length: 2_000 }, (_, nth) => ({
  ...({ type: 'message-added', role: 'user', at: 1, parts: [] } as const),
  messageId: parseMessageId(`u-${nth}`),
}))

describe('a group', () => {
  it('[LG1] contains everything that waits; the next one fills while it is in flight', async () => {
    const { submit, groups, results, seen, until, commitDirectly } = open()
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
    expect(results()).toEqual({})
    gate.resolve()
    await settled()
    expect(groups).toEqual([
      ['a', 'b', 'c'],
      ['d', 'e'],
    ])
    expect(Object.values(results())).toEqual(Array.from({ length: 5 }, () => 'appended'))
    expect(seen).toEqual([
      [3, 3],
      [2, 2],
    ])
  })

  it('[OP7] has one commit of each thread: others do not wait for hundreds that one thread has at once', async () => {
    const { submit, groups, results, until, commitDirectly } = open()
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      await gate.promise
      return commitDirectly(plans)
    })
    submit('a')
    await settled()
    for (const name of ['many', 'many', 'many', 'b']) submit(name)
    gate.resolve()
    await settled()
    expect(groups).toEqual([['a'], ['many', 'b'], ['many'], ['many']])
    // Planned on the same seq: the first one was stored, and each of the others is told that it is stale.
    expect(results()).toEqual({ a: 'appended', b: 'appended', many: 'stale' })
  })

  it('[OP7] is not held up by a person’s commit of thousands of rows, which is written beside it', async () => {
    const { submit, groups, results, until, commitDirectly, committer, clock } = open()
    const gate = Promise.withResolvers<void>()
    until(async (plans) => {
      if (plans.some(({ append }) => append.threadId === 'long')) await gate.promise
      return commitDirectly(plans)
    })
    submit('a')
    submit('long', { events: manyMessages })
    submit('b')
    await settled()
    expect(groups).toEqual([['long'], ['a', 'b']])
    expect(results()).toEqual({ a: 'appended', b: 'appended' })
    await clock.advance(10_000)
    submit('c')
    await settled()
    expect(results()).toEqual({ a: 'appended', b: 'appended', c: 'appended' })
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
    gate.resolve()
    await settled()
    expect(results()).toMatchObject({ long: 'appended' })
  })

  it('[OP7] is no larger than what is quickly written: others wait for no more than that', async () => {
    const { submit, groups, results } = open()
    for (const name of ['a', 'b', 'c', 'd']) {
      const text = 'x'.repeat(name === 'd' ? 1 : 600_000)
      const parts = [{ type: 'text', text }] as const
      const messageId = parseMessageId(`u-${name}`)
      submit(name, { events: [{ type: 'message-added', role: 'user', at: 1, messageId, parts }] })
    }
    await settled()
    expect(groups).toEqual([['a'], ['b'], ['c', 'd']])
    expect(Object.values(results())).toEqual(Array.from({ length: 4 }, () => 'appended'))
  })

  it('[OP7 LG3a] is not held up by a long commit of a run, which is retried beside it', async () => {
    const { submit, groups, results, until, commitDirectly, clock, createRunning } = open()
    await createRunning('long')
    let failures = 2
    until((plans) =>
      plans.some(({ append }) => append.threadId === 'long') && failures-- > 0
        ? Promise.reject(temporary())
        : commitDirectly(plans),
    )
    submit('long', { events: manyMessages }, 'run')
    await settled()
    submit('a')
    await settled()
    expect(groups).toEqual([['long'], ['a']])
    expect(results()).toEqual({ a: 'appended' })
    await clock.advance(1_000)
    expect(results()).toEqual({ a: 'appended', long: 'appended' })
  })

  it('[OP7 LG3] such a commit that fails is an error for its writer alone', async () => {
    const { submit, results, until, commitDirectly } = open()
    until((plans) =>
      plans.some(({ append }) => append.threadId === 'long')
        ? Promise.reject(temporary())
        : commitDirectly(plans),
    )
    submit('long', { events: manyMessages })
    submit('a')
    await settled()
    expect(results()).toEqual({ long: 'store-locked', a: 'appended' })
  })

  it('[LG3] may have members that are refused individually', async () => {
    const { submit, results, stored } = open()
    submit('a')
    submit('stale', { expectedSeq: 5, create: undefined as never })
    submit('b')
    await settled()
    expect(results()).toEqual({ a: 'appended', stale: 'no-thread', b: 'appended' })
    submit('a', { expectedSeq: 9 })
    submit('c')
    await settled()
    expect(results()).toMatchObject({ a: 'stale', c: 'appended' })
    expect([await stored('a'), await stored('c')]).toEqual([1, 1])
  })

  it('[LG3] with too few results from the store rejects the commits without one', async () => {
    const { submit, results, until, commitDirectly } = open()
    until(async (plans) => (await commitDirectly(plans)).slice(0, 1))
    submit('a')
    submit('b')
    await settled()
    expect(results()).toEqual({ a: 'appended', b: 'store-failed' })
  })
})

describe('a thread whose row is locked', () => {
  const held =
    (name: string, commit: Reaction): Reaction =>
    async (plans) => {
      const free = plans.filter(({ append }) => append.threadId !== name)
      const results = [...(await commit(free))]
      return plans.map((each) =>
        free.includes(each) ? (results.shift() as AppendResult) : { kind: 'busy' },
      )
    }

  it('[LG3a] is retried in a group of its own, and delays no other', async () => {
    const { submit, results, groups, until, commitDirectly, clock } = open()
    until(held('b', commitDirectly))
    for (const name of ['a', 'b', 'c']) submit(name)
    await settled()
    expect(results()).toEqual({ a: 'appended', c: 'appended' })
    expect(clock.timers()).toEqual([20])
    submit('d')
    await clock.advance(20)
    expect(results()).toEqual({ a: 'appended', c: 'appended', d: 'appended' })
    expect(groups).toEqual([['a', 'b', 'c'], ['d'], ['b']])
    until(null)
    await clock.advance(40)
    expect(results()).toMatchObject({ b: 'appended' })
    expect(groups.at(-1)).toEqual(['b'])
    expect(clock.timers()).toEqual([])
  })

  it.each([
    ['person', 5_000],
    ['run', 60_000],
  ] as const)(
    '[LG3a] for too long: a %s gets the error, and nothing of it was stored',
    async (who, limitMs) => {
      const engine = open()
      const { createRunning, results, until, commitDirectly, clock, stored } = engine
      await createRunning('b')
      until(held('b', commitDirectly))
      engine[who]('b')
      await clock.advance(limitMs - 1)
      expect(results()).toEqual({})
      // The longest pause between two tries.
      await clock.advance(501)
      expect(results()).toEqual({ b: 'store-locked' })
      expect(await stored('b')).toBe(0)
      expect(clock.timers()).toEqual([])
    },
  )

  it.each([
    ['cannot be written', () => Promise.reject(temporary()), 0, 'store-locked'],
    ['does not answer', () => new Promise<never>(() => {}), 3_000, 'store-unreachable'],
  ] as const)(
    '[LG3a] behind the write of a run, to a store that then %s: a person is refused in time',
    async (_, react, withinMs, code) => {
      const { person, run, createRunning, results, until, commitDirectly, clock, stored } = open()
      await createRunning('r')
      until(held('p', commitDirectly))
      person('p')
      await settled()
      const gate = Promise.withResolvers<void>()
      until((plans) => gate.promise.then(() => commitDirectly(plans)))
      person('first')
      await clock.advance(20)
      run('r')
      until(react)
      // Both are taken from the queue at once, and the message is tried again after the run's write.
      gate.resolve()
      await settled()
      await clock.advance(withinMs)
      expect(results()).toEqual({ first: 'appended', p: code })
      expect(await stored('p')).toBe(null)
    },
  )

  it('[LG3a HT1] counts as interrupted if nothing else is stored, and a server with several of them is not ready', async () => {
    const { committer, run, createRunning, until, clock, commitDirectly, results } = open()
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
    // One of them is stored: the other's lock is its own.
    expect(results()).toEqual({ a: 'appended' })
    expect([committer.saving, committer.problem()]).toEqual(['ok', null])
  })
})

describe('a store that temporarily cannot be written', () => {
  it('[LG3a] is retried by runs; every other writer gets the error at once', async () => {
    const { committer, run, person, createRunning, results, until, clock, groups, stored } = open()
    await createRunning('r1', 'r2', 'r3')
    until(() => Promise.reject(temporary()))
    run('r1')
    person('p1')
    run('r2')
    await settled()
    expect(results()).toEqual({ p1: 'store-locked' })
    expect(committer.saving).toBe('interrupted')
    // Behind a write that is being retried: a run waits, a person does not.
    person('p2')
    run('r3')
    await settled()
    expect(results()).toEqual({ p1: 'store-locked', p2: 'store-locked' })
    await clock.advance(250)
    expect(groups).toEqual([
      ['r1', 'p1', 'r2'],
      ['r1', 'r2'],
      ['r1', 'r2'],
    ])
    until(null)
    await clock.advance(50)
    expect(results()).toMatchObject({ r1: 'appended', r2: 'appended', r3: 'appended' })
    expect(groups.slice(3)).toEqual([['r1', 'r2'], ['r3']])
    expect(committer.saving).toBe('ok')
    expect([await stored('r1'), await stored('p1')]).toEqual([1, null])
    person('p3')
    await settled()
    expect(results()).toMatchObject({ p3: 'appended' })
  })

  it('[LG3a] is retried for a minute', async () => {
    const { run, createRunning, results, until, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await clock.advance(59_900)
    expect(results()).toEqual({})
    await clock.advance(100)
    expect(results()).toEqual({ r: 'store-locked' })
    expect(clock.timers()).toEqual([])
  })

  it('[LG3a] is not retried by a process that is shutting down', async () => {
    const { committer, run, createRunning, results, until, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await settled()
    committer.stopWaiting()
    await settled()
    expect(results()).toEqual({ r: 'store-locked' })
    expect(clock.timers()).toEqual([])
  })

  it('[LG3a] counts as interrupted also while a write takes longer than a second', async () => {
    const { committer, person, until, clock, commitDirectly, results } = open()
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
    expect([committer.saving, results()]).toEqual(['ok', { p: 'appended' }])
  })
})

describe('a commit that may or may not have been stored', () => {
  it.each([
    ['the store says so', inDoubt, 'store-failed'],
    ['it throws something', () => new Error('socket hang up'), 'socket hang up'],
    ['the store was closed', () => new HoldfastError('store-closed', 'Closed.'), 'store-closed'],
  ])('[LG3] [LG3a] is not tried again by anybody: %s', async (_, fault, words) => {
    const { run, person, createRunning, results, until, groups, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(fault()))
    run('r')
    person('p')
    await settled()
    expect(results()).toEqual({ r: words, p: words })
    await clock.advance(60_000)
    expect(groups).toHaveLength(1)
    // The next one is independent of it.
    until(null)
    person('q')
    await settled()
    expect(results()).toMatchObject({ q: 'appended' })
  })

  it('[LG3] after an attempt that certainly stored nothing: the run gets the error', async () => {
    const { run, createRunning, results, until, groups, clock } = open()
    await createRunning('r')
    until(() => Promise.reject(temporary()))
    run('r')
    await settled()
    until(() => Promise.reject(inDoubt()))
    await clock.advance(100)
    expect([results(), groups.length]).toEqual([{ r: 'store-failed' }, 2])
  })
})
