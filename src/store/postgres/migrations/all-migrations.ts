import { ledger } from './0001-ledger.ts'
import { commitAppends } from './0002-commit-appends.ts'
import { wideAppends } from './0003-wide-appends.ts'
import { sealAndDelete } from './0004-seal-and-delete.ts'
import type { Migration } from './migration.ts'

/** In order, without gaps. */
export const allMigrations: readonly Migration[] = [
  ledger,
  commitAppends,
  wideAppends,
  sealAndDelete,
]
