import { httpRules } from 'holdfast/testing'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'

/** Where a server keeps its threads. */
export interface Place {
  readonly db: string
  readonly cleanUp: () => Promise<void>
}

const headersOf = (owner: 'one' | 'other') => ({ authorization: `Bearer ${owner}` })

/** Every rule of HTTP on a server of its own. Each store has a test file of its own, so that several are tested at a time. */
export function checkHttpRules(name: string, createPlace: () => Promise<Place>): void {
  describe(`a server on ${name}`, () => {
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
}
