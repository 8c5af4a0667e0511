import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { memory } from '../../store/memory/memory-store.ts'
import { systemClock } from '../clock.ts'
import { retryInLine } from './writers-in-line.ts'

/** A thread that many write to: of those that have read the same seq, the first is stored. */
function createThread() {
  let seq = 0
  let attempts = 0
  return {
    attempts: () => attempts,
    write: async (): Promise<number | 'stale'> => {
      attempts++
      const read = seq
      await setImmediate()
      if (read !== seq) return 'stale'
      await setImmediate()
      return read === seq ? ++seq : 'stale'
    },
  }
}

const store = memory()
const many = Array.from({ length: 500 }, (_, index) => index)

it('[LG1 OP7] of hundreds of writers of one thread each is stored, at its second attempt', async () => {
  const thread = createThread()
  const stored = await Promise.all(
    many.map(() => retryInLine({ store, clock: systemClock }, 't', thread.write)),
  )
  expect(new Set(stored).size).toBe(many.length)
  expect(thread.attempts()).toBe(2 * many.length - 1)
})

it('[LG1] a writer that fails fails alone', async () => {
  const thread = createThread()
  let attempts = 0
  const failing = () =>
    attempts++ === 0 ? Promise.resolve('stale' as const) : Promise.reject(new Error('no'))
  const [failed, ...rest] = await Promise.allSettled([
    retryInLine({ store, clock: systemClock }, 't', failing),
    ...many.slice(0, 5).map(() => retryInLine({ store, clock: systemClock }, 't', thread.write)),
  ])
  expect(failed?.status).toBe('rejected')
  expect(rest.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 'fulfilled'))
})

it('[LG1 OP7] a writer that waits for too long for another goes on without it', async () => {
  const thread = createThread()
  let hold = false
  const stuck = () => {
    const result = hold ? Promise.withResolvers<never>().promise : Promise.resolve('stale' as const)
    hold = true
    return result
  }
  void retryInLine({ store, clock: systemClock }, 'u', stuck)
  await setImmediate()
  const hurried = {
    ...systemClock,
    after: (_: number, call: () => void) => systemClock.after(1, call),
  }
  const both = [1, 2].map(() => retryInLine({ store, clock: hurried }, 'u', thread.write))
  expect(new Set(await Promise.all(both))).toEqual(new Set([1, 2]))
})
