import { ledger } from './0001-ledger.ts'
import { lighterWrites } from './0002-lighter-writes.ts'

/** The n-th brings a database from version n - 1 to n. One that has been published never changes. */
export const allMigrations: readonly string[] = [ledger, lighterWrites]
