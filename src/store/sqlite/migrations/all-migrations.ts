import { ledger } from './0001-ledger.ts'
import { plainEvents } from './0002-plain-events.ts'

/** The n-th brings a database from version n - 1 to n. One that has been published never changes. */
export const allMigrations: readonly string[] = [ledger, plainEvents]
