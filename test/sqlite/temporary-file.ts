import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import { sqlite, type SqliteStoreOptions } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'

/** A path for one test, in a folder that goes away with it. */
export function temporaryFile(name = 'chat.db'): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-sqlite-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, name)
}

/** A store that is closed with its test. */
export function openStore(file: string, options?: SqliteStoreOptions): Store {
  const store = sqlite(file, options)
  onTestFinished(() => store.close())
  return store
}

/** The same file without us, to look at it or to damage it. */
export function openRaw(file: string): DatabaseSync {
  const db = new DatabaseSync(file)
  onTestFinished(() => {
    if (db.isOpen) db.close()
  })
  return db
}
