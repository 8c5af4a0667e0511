import { ledger } from './0001-ledger.ts'
import { lighterWrites } from './0002-lighter-writes.ts'
import { packsOfFacts } from './0003-packs-of-facts.ts'
import { quickerGuards } from './0004-quicker-guards.ts'

/** The n-th brings a database from version n - 1 to n. One that has been published never changes. */
export const allMigrations: readonly string[] = [ledger, lighterWrites, packsOfFacts, quickerGuards]
