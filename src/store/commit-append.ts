import { type Append, planCommit } from './plan-commit.ts'
import type { AppendResult, Store } from './store.ts'

/** One append by itself, for writers that have no group to share a flush with: repairs, imports, tests. */
export async function commitAppend(store: Store, append: Append): Promise<AppendResult> {
  const planned = planCommit(append)
  if ('kind' in planned) return planned
  const [result] = await store.commit([planned])
  return result ?? { kind: 'busy' }
}
