import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface TestDatabase {
  readonly url: string
  drop(): Promise<void>
}

/** A fresh, empty database on the server of `adminUrl`. */
export async function createDatabase(adminUrl: string): Promise<TestDatabase> {
  const name = `holdfast_test_${randomBytes(8).toString('hex')}`
  await runAsAdmin(adminUrl, `create database ${name}`)
  const url = new URL(adminUrl)
  url.pathname = `/${name}`
  return {
    url: url.href,
    // Forced, so that a test which failed with connections open leaves nothing behind.
    drop: () => runAsAdmin(adminUrl, `drop database if exists ${name} with (force)`),
  }
}

async function runAsAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
