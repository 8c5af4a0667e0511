import { expect, it, onTestFinished, vi } from 'vitest'
import { createWriterConnection } from './connection-pool.ts'
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
