import { ledger } from './0001-ledger.ts'
import { sealedTurns } from './0005-sealed-turns.ts'
import { eventPacks } from './0006-event-packs.ts'
import type { Migration } from './migration.ts'

/** In the order of their versions. */
export const allMigrations: readonly Migration[] = [ledger, sealedTurns, eventPacks]
