import { describe, expect, it } from 'vitest'
import { attemptWhileStale, retryWhileStale } from './retry-while-stale.ts'

/** An attempt that is stale this many times, and the pauses between. */
function losing(times: number) {
  const pauses: number[] = []
  let attempts = 0
  return {
    pauses,
    attempts: () => attempts,
    pause: (ms: number) => {
      pauses.push(ms)
      return Promise.resolve()
    },
    attempt: () => Promise.resolve(attempts++ < times ? ('stale' as const) : 'written'),
  }
}

describe('a write that is stale', () => {
  it('[LG1] is tried again at once a few times', async () => {
    const { pause, attempt, pauses } = losing(3)
    expect(await retryWhileStale(pause, attempt)).toBe('written')
    expect(pauses).toEqual([])
  })

  it('[LG1 OP7] is tried again after a pause that doubles up to a limit', async () => {
    const { pause, attempt, pauses } = losing(12)
    expect(await retryWhileStale(pause, attempt)).toBe('written')
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 100, 100])
  })

  it('[LG1] throws after a hundred attempts', async () => {
    const { pause, attempt, attempts } = losing(1_000)
    await expect(retryWhileStale(pause, attempt)).rejects.toMatchObject({ code: 'store-failed' })
    expect(attempts()).toBe(100)
  })

  it('[LG1] gives up earlier where an attempt is expensive', async () => {
    const { pause, attempt, attempts } = losing(1_000)
    expect(await attemptWhileStale(pause, attempt, 3)).toBe('stale')
    expect(attempts()).toBe(3)
  })
})
