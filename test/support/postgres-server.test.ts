import { existsSync } from 'node:fs'
import pg from 'pg'
import { expect, inject, it } from 'vitest'
import { createDatabase } from './create-database.ts'
import { startPostgres } from './postgres-server.ts'

it('starts a durable PostgreSQL and leaves nothing behind', { timeout: 60_000 }, async () => {
  const server = await startPostgres()
  try {
    expect(existsSync(server.folder)).toBe(true)
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(await query(server.url, 'show fsync')).toEqual([{ fsync: 'on' }])
    expect(await query(server.url, 'show synchronous_commit')).toEqual([
      { synchronous_commit: 'on' },
    ])
    expect(await query(server.url, 'show max_connections')).toEqual([{ max_connections: '100' }])
  } finally {
    await server.stop()
  }
  expect(existsSync(server.folder)).toBe(false)
  await expect(query(server.url, 'select 1')).rejects.toThrow('ECONNREFUSED')
})

it('gives each caller an empty database of its own', async () => {
  const adminUrl = inject('postgresUrl')
  const [first, second] = await Promise.all([createDatabase(adminUrl), createDatabase(adminUrl)])
  await query(first.url, 'create table note (id integer)')
  const tables = `select count(*)::integer as count from pg_tables where schemaname = 'public'`
  expect(await query(first.url, tables)).toEqual([{ count: 1 }])
  expect(await query(second.url, tables)).toEqual([{ count: 0 }])

  const left = new pg.Client({ connectionString: first.url })
  left.on('error', () => {})
  await left.connect()
  await Promise.all([first.drop(), second.drop()])
  await expect(query(first.url, 'select 1')).rejects.toThrow('does not exist')
  await left.end()
})

async function query(url: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const result = await client.query<Record<string, unknown>>(statement)
    return result.rows
  } finally {
    await client.end()
  }
}
