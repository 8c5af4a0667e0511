import pg from 'pg'
import { expect, it, onTestFinished, vi } from 'vitest'
import {
  createReconnectingConnection,
  type ReconnectingConnection,
} from '../../src/store/postgres/reconnecting-connection.ts'
import { openTestDatabase } from './test-database.ts'

async function open(max = 3) {
  const database = await openTestDatabase()
  const pool = new pg.Pool({ connectionString: database.url, max })
  // The server ends one of them below.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  onTestFinished(() => pool.end())
  const steady = createReconnectingConnection(pool, max)
  onTestFinished(() => steady.close())
  return { pool, steady, database }
}

async function pidOf(
  connection: Pick<ReconnectingConnection, 'query'>,
  text = '',
): Promise<number> {
  const { rows } = await connection.query<{ pid: number }>({
    text: `SELECT pg_backend_pid() AS pid ${text}`,
  })
  return rows[0]?.pid ?? 0
}

it('keeps its connection from one statement to the next, and gives it back when none comes', async () => {
  const { pool, steady } = await open()
  let listeners: number | undefined
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  for (let round = 0; round < 3; round++) {
    const pid = await pidOf(steady)
    expect(pool.idleCount).toBe(0)
    expect(await pidOf(steady)).toBe(pid)
    vi.advanceTimersByTime(100)
    expect(pool.idleCount).toBe(1)
    const client = await pool.connect()
    listeners ??= client.listenerCount('end')
    expect(client.listenerCount('end')).toBe(listeners)
    client.release()
  }
})

it('lets others have a connection of their own meanwhile', async () => {
  const { steady } = await open()
  const [first, second] = await Promise.all([pidOf(steady), pidOf(steady)])
  expect(first).not.toBe(second)
})

it('leaves the only connection of a pool to all', async () => {
  const { pool, steady } = await open(1)
  await pidOf(steady)
  expect(pool.idleCount).toBe(1)
})

it('keeps it after a statement that the server refuses', async () => {
  const { steady } = await open()
  const pid = await pidOf(steady)
  await expect(steady.query({ text: 'SELECT 1 / 0' })).rejects.toThrow('division by zero')
  expect(await pidOf(steady)).toBe(pid)
})

it('takes another when the server has ended it, idle or in a statement', async () => {
  const { steady, database } = await open()
  const killer = await database.connect()
  const idle = await pidOf(steady)
  await killer.query('SELECT pg_terminate_backend($1)', [idle])
  const second = await pidOf(steady).catch(() => pidOf(steady))
  expect(second).not.toBe(idle)
  await expect(pidOf(steady, ', pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(
    /terminat/,
  )
  expect(await pidOf(steady)).not.toBe(second)
})
