import { describe, expect, it } from 'vitest'
import { openCommitter as open, temporary } from '../../../test/support/committer-harness.ts'
import { settled } from '../../../test/support/scripted-clock.ts'
import { parseMessageId } from '../../core/ids.ts'
import type { PlannedCommit } from '../../store/plan-commit.ts'
import type { AppendResult } from '../../store/store.ts'

const leaseMs = 5_000
const never = () => new Promise<never>(() => {})

/** What the store does with one call after the other; each can be answered later. */
function answering(commit: (plans: readonly PlannedCommit[]) => Promise<readonly AppendResult[]>) {
  const calls: { readonly answer: () => void; readonly fail: (error: Error) => void }[] = []
  return {
    calls,
    react: async (plans: readonly PlannedCommit[]) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      calls.push({ answer: resolve, fail: reject })
      await promise
      return commit(plans)
    },
  }
}

describe('a renewal', () => {
  it('[CR2] goes into the group with everything that waits', async () => {
    const { run, renew, createRunning, groups, results, clock } = open()
    await createRunning('a', 'b')
    run('a')
    renew('b', leaseMs)
    await settled()
    expect([groups, results()]).toEqual([[['a', 'b']], { a: 'appended', b: 'appended' }])
    expect(clock.timers()).toEqual([])
  })

  it('[CR2] behind a write that gets no answer is stored apart from it, long before the lease expires', async () => {
    const { run, renew, createRunning, until, groups, results, clock, commitDirectly } = open()
    await createRunning('a', 'b', 'c')
    const store = answering(commitDirectly)
    until((plans) =>
      plans[0]?.append.threadId === 'a' ? store.react(plans) : commitDirectly(plans),
    )
    run('a')
    await settled()
    renew('b', leaseMs)
    renew('c', leaseMs)
    await clock.advance(leaseMs / 5 - 1)
    expect(results()).toEqual({})
    await clock.advance(1)
    expect(results()).toEqual({ b: 'appended', c: 'appended' })
    // Those that are stored are not written again when the write ends.
    store.calls[0]?.answer()
    await settled()
    expect(results()).toEqual({ a: 'appended', b: 'appended', c: 'appended' })
    expect([groups, clock.timers()]).toEqual([[['a'], ['b', 'c']], []])
  })

  it('[CR2] that itself gets no answer is sent again, and not retried once it is stored', async () => {
    const { renew, createRunning, until, groups, results, clock, commitDirectly } = open()
    await createRunning('a')
    const store = answering(commitDirectly)
    until(store.react)
    renew('a', leaseMs)
    await clock.advance(leaseMs / 5)
    store.calls[1]?.answer()
    await settled()
    expect(results()).toEqual({ a: 'appended' })
    store.calls[0]?.fail(temporary())
    await clock.advance(60_000)
    expect([groups, clock.timers()]).toEqual([[['a'], ['a']], []])
  })

  it('[CR2 LG3a] occupies few connections of a database that does not respond', async () => {
    const { renew, createRunning, until, groups, clock } = open()
    await createRunning('a', 'b')
    until(never)
    renew('a', leaseMs)
    renew('b', leaseMs)
    await clock.advance(60_000)
    expect(groups).toEqual(Array.from({ length: 3 }, () => ['a', 'b']))
  })

  it.each([
    ['fails', () => Promise.reject(temporary())],
    ['finds the row locked', async () => [{ kind: 'busy' } as const]],
  ])('[CR2] has the result of its group where the attempt apart %s', async (_, second) => {
    const { renew, createRunning, until, results, clock, commitDirectly } = open()
    await createRunning('a')
    const store = answering(commitDirectly)
    until(store.react)
    renew('a', leaseMs)
    await settled()
    until(second)
    await clock.advance(leaseMs / 5)
    expect(results()).toEqual({})
    store.calls[0]?.answer()
    await settled()
    expect([results(), clock.timers()]).toEqual([{ a: 'appended' }, []])
  })

  it('[CR5 OP4] is never stored after the hand-over of its run', async () => {
    const { renew, createRunning, until, groups, results, clock, commitDirectly } = open()
    await createRunning('a')
    const store = answering(commitDirectly)
    until(store.react)
    renew('a', leaseMs)
    await clock.advance(leaseMs / 5)
    store.calls[0]?.answer()
    await settled()
    renew('a', 0)
    await settled()
    expect(groups).toEqual([['a'], ['a']])
    until(null)
    store.calls[1]?.answer()
    await settled()
    expect([groups, results()]).toEqual([[['a'], ['a'], ['a']], { a: 'appended' }])
  })

  it('[CR2 OP7] follows a commit of thousands of rows that acquired the lease, which is counted from its beginning', async () => {
    const { submit, until, results, commitDirectly } = open()
    const leases: unknown[] = []
    until((plans) => {
      leases.push(...plans.map(({ append }) => append.lease))
      return commitDirectly(plans)
    })
    const events = Array.from({ length: 2_000 }, (_, nth) => ({
      ...({ type: 'message-added', role: 'user', at: 1, parts: [] } as const),
      messageId: parseMessageId(`u-${nth}`),
    }))
    const turnId = parseMessageId('turn')
    const lease = { kind: 'acquire', holder: 'h', ttlMs: leaseMs, turnId } as const
    submit('long', { events, lease })
    submit('short', { lease })
    await settled()
    expect(results()).toEqual({ long: 'appended', short: 'appended' })
    const renewal = { kind: 'hold', renewMs: leaseMs, fence: expect.any(Number) as number }
    expect(leases).toEqual([lease, lease, renewal])
  })
})
