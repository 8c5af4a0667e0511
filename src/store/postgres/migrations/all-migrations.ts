import { ledger } from './0001-ledger.ts'
import { snapshottedTurns } from './0005-snapshotted-turns.ts'
import { eventBatches } from './0006-event-batches.ts'
import { rowsPlannedOutside } from './0007-rows-planned-outside.ts'
import { historyMarks } from './0008-history-marks.ts'
import { threadMetadata } from './0009-thread-metadata.ts'
import { inputQueue } from './0010-input-queue.ts'
import { versions } from './0011-versions.ts'
import { files } from './0012-files.ts'
import { search } from './0013-search.ts'
import { keptThreads } from './0014-kept-threads.ts'
import { shares } from './0015-shares.ts'
import { repairRecord } from './0016-repair-record.ts'
import { settledInputs } from './0017-settled-inputs.ts'
import { queuedFiles } from './0018-queued-files.ts'
import type { Migration } from './migration.ts'

/** In the order of their versions. */
export const allMigrations: readonly Migration[] = [
  ledger,
  snapshottedTurns,
  eventBatches,
  rowsPlannedOutside,
  historyMarks,
  threadMetadata,
  inputQueue,
  versions,
  files,
  search,
  keptThreads,
  shares,
  repairRecord,
  settledInputs,
  queuedFiles,
]
