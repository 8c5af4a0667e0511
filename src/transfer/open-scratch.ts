import { memory } from '../store/memory/memory-store.ts'
import type { Store } from '../store/store.ts'

/**
 * An empty store for a dry run, deleted when it is closed. SQLite, because it is fast with long threads, in a
 * file or in memory; without `node:sqlite` the memory store.
 */
export async function openScratch(file = ':memory:'): Promise<Store> {
  try {
    const { sqlite } = await import('../store/sqlite/index.ts')
    return sqlite(file)
  } catch {
    // A runtime without SQLite: nothing that is written here has to outlive the process.
    return memory()
  }
}
