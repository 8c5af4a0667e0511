import { ledger } from './0001-ledger.ts'
import { eventsWithoutRowid } from './0002-events-without-rowid.ts'
import { eventBatches } from './0003-event-batches.ts'
import { callsCheckAsComparison } from './0004-calls-check-as-comparison.ts'
import { callsInOrder } from './0005-calls-in-order.ts'
import { historyMarks } from './0006-history-marks.ts'
import { threadMetadata } from './0007-thread-metadata.ts'
import { inputQueue } from './0008-input-queue.ts'
import { versions } from './0009-versions.ts'
import { files } from './0010-files.ts'
import { search } from './0011-search.ts'
import { keptThreads } from './0012-kept-threads.ts'
import { shares } from './0013-shares.ts'
import { settledInputs } from './0014-settled-inputs.ts'
import { queuedFiles } from './0015-queued-files.ts'

/** The n-th migrates a database from version n - 1 to n. A published migration never changes. */
export const allMigrations: readonly string[] = [
  ledger,
  eventsWithoutRowid,
  eventBatches,
  callsCheckAsComparison,
  callsInOrder,
  historyMarks,
  threadMetadata,
  inputQueue,
  versions,
  files,
  search,
  keptThreads,
  shares,
  settledInputs,
  queuedFiles,
]

/**
 * Migrations after which the version before can still read and write: they add a table, an index, or a column
 * that may be left out (docs/guides/upgrades.md).
 */
export const additiveVersions: ReadonlySet<number> = new Set([6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
