import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../src/store/postgres/index.ts'
import { createThread, thread } from '../../src/testing/store-rules/thread-script.ts'
import { openTcpLine } from '../support/tcp-line.ts'
import { openTestDatabase } from './test-database.ts'

it('[LG3b] of the idle connections of a host’s pool that vanished, one alone is waited for', async () => {
  const database = await openTestDatabase()
  const line = await openTcpLine(database.url)
  const pool = new pg.Pool({ connectionString: line.url, max: 5 })
  pool.on('error', () => {})
  onTestFinished(() => pool.end())
  let taken = 0
  pool.on('acquire', () => void taken++)
  const store = postgres({ pool }, { statementTimeoutMs: 500, connectTimeoutMs: 1_000 })
  onTestFinished(() => store.close())
  await createThread(store)
  // Each of these occupies a connection: afterwards five of them are idle.
  await Promise.all(Array.from({ length: 5 }, () => store.readThread(thread)))
  expect([pool.totalCount, pool.idleCount]).toEqual([5, 5])
  line.stall('now')
  line.restore()
  taken = 0
  expect(await store.readThread(thread)).toMatchObject({ id: thread })
  // The one that gave no answer, four that nobody waited for, and a new one.
  expect([taken, pool.totalCount]).toEqual([6, 1])
})
