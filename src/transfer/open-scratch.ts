import { memory } from '../store/memory/memory-store.ts'
import type { Store } from '../store/store.ts'

/**
 * An empty store for a dry run, which goes when it is closed. SQLite, for it is quick with long threads,
 * in a file or in memory; without `node:sqlite` the plain one.
 */
export async function openScratch(file = ':memory:'): Promise<Store> {
  try {
    const { sqlite } = await import('../store/sqlite/index.ts')
    return sqlite(file)
  } catch {
    // A runtime without SQLite: nothing that is written here has to outlive this.
    return memory()
  }
}
