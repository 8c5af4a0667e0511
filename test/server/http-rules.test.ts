import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { httpRules } from 'holdfast/testing'
import { afterAll, beforeAll, describe, inject, it } from 'vitest'
import { createDatabase } from '../support/create-database.ts'
import { findPgBouncer, startPgBouncer } from '../support/pgbouncer.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { startTransactionPooler } from '../support/transaction-pooler.ts'

const headersOf = (owner: 'one' | 'other') => ({ authorization: `Bearer ${owner}` })

interface Place {
  readonly db: string
  readonly cleanUp: () => Promise<void>
}

const stores: Readonly<Record<string, () => Promise<Place>>> = {
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-http-'))
    return {
      db: join(folder, 'chat.db'),
      cleanUp: () => rm(folder, { recursive: true, force: true }),
    }
  },
  async postgres() {
    const database = await createDatabase(inject('postgresUrl'))
    return { db: database.url, cleanUp: () => database.drop() }
  },
  async 'postgres through a transaction pooler'() {
    const database = await createDatabase(inject('postgresUrl'))
    const program = findPgBouncer()
    const pooler =
      program === null
        ? await startTransactionPooler(database.url, { size: 8 })
        : await startPgBouncer(program, database.url)
    return {
      db: pooler.url,
      async cleanUp() {
        await pooler.close()
        await database.drop()
      },
    }
  },
}

describe.each(Object.entries(stores))('a server on %s', (_, createPlace) => {
  let place: Place
  let server: ServerProcess
  let guarded: ServerProcess

  beforeAll(async () => {
    place = await createPlace()
    const { db } = place
    server = await startServerProcess({ db })
    guarded = await startServerProcess({ db, env: { OWNERS: '2' } })
  })
  afterAll(async () => {
    await Promise.all([server.stop(), guarded.stop()])
    await place.cleanUp()
  })

  describe.concurrent('alone', () => {
    for (const rule of httpRules.filter(({ needs }) => needs !== 'two-owners')) {
      it(`${rule.id} ${rule.claim}`, () => rule.check({ baseUrl: server.url }))
    }
  })
  describe.concurrent('with two owners', () => {
    for (const rule of httpRules.filter(({ needs }) => needs === 'two-owners')) {
      it(`${rule.id} ${rule.claim}`, () => rule.check({ baseUrl: guarded.url, headersOf }))
    }
  })
})
