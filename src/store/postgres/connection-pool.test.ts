import { expect, it, onTestFinished, vi } from 'vitest'
import { createConnectionPool, createWriterConnection } from './connection-pool.ts'
import type { PostgresConnection } from './connection.ts'

it('[LG3b] is closed when it has been idle, and not while a commit is in flight on it', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  let opened = 0
  let closed = 0
  const open = async () => {
    opened++
    return {
      close: async () => void closed++,
      drop() {},
    } as Partial<PostgresConnection> as PostgresConnection
  }
  const writer = createWriterConnection(open, () => false, 60_000)
  const first = await writer.acquire(() => false)
  writer.release()
  vi.advanceTimersByTime(59_999)
  expect(await writer.acquire(() => false)).toBe(first)
  // A minute after it was used before, and long after this commit began.
  vi.advanceTimersByTime(100_000)
  expect(closed).toBe(0)
  writer.release()
  vi.advanceTimersByTime(59_999)
  expect(closed).toBe(0)
  vi.advanceTimersByTime(1)
  expect([opened, closed]).toEqual([1, 1])
  await writer.acquire(() => false)
  expect(opened).toBe(2)
})

const exhausted = () => Object.assign(new Error('too many connections'), { code: '53300' })

function openPool() {
  const opening: PromiseWithResolvers<PostgresConnection>[] = []
  const pool = createConnectionPool({
    open: () => {
      const next = Promise.withResolvers<PostgresConnection>()
      opening.push(next)
      return next.promise
    },
    ...{ size: 5, waitMs: 60_000, idleMs: 60_000, onError: () => {} },
  })
  const connection = () =>
    ({
      isUsable: true,
      answeredAt: 0,
      onEnd() {},
      close: async () => {},
      drop() {},
    }) as Partial<PostgresConnection> as PostgresConnection
  return { pool, opening, connection }
}

it('[LG3a] gives one of its own to whom the server gave none, whichever of several is opened', async () => {
  const { pool, opening, connection } = openPool()
  const wanted = [pool.acquire(), pool.acquire(), pool.acquire()]
  opening[0]?.reject(exhausted())
  opening[1]?.reject(exhausted())
  const last = connection()
  opening[2]?.resolve(last)
  expect(await wanted[2]).toBe(last)
  pool.release(last)
  expect(await wanted[0]).toBe(last)
  pool.release(last)
  expect(await wanted[1]).toBe(last)
  pool.release(last)
  expect(opening).toHaveLength(3)
  await pool.end()
})

it('[LG3a] refuses everybody where the server gives it none at all', async () => {
  const { pool, opening } = openPool()
  const wanted = Promise.allSettled([pool.acquire(), pool.acquire()])
  for (const each of opening) each.reject(exhausted())
  expect(await wanted).toMatchObject([
    { status: 'rejected', reason: { code: '53300' } },
    { status: 'rejected', reason: { code: '53300' } },
  ])
  await pool.end()
})

it('[LG3a] opens no connection once it has ended', async () => {
  const { pool, opening, connection } = openPool()
  const first = pool.acquire()
  const used = connection()
  opening[0]?.resolve(used)
  await first
  const late = Promise.allSettled([pool.acquire()])
  const ended = pool.end()
  opening[1]?.reject(exhausted())
  expect(await late).toMatchObject([{ status: 'rejected', reason: { code: 'store-closed' } }])
  pool.release(used)
  await ended
  expect(opening).toHaveLength(2)
})
