import type { Seq, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import { findDifference } from './same-message.ts'
import type { Witness } from './witness.ts'
import type { Report } from './violation.ts'

/** The pages of a thread, walked at some size, are what was stored (LG4, PG2). */
export async function checkPages(
  store: Store,
  threadId: ThreadId,
  witness: Witness,
  limit: number,
  report: Report,
): Promise<void> {
  const walked: Message[] = []
  let before: Seq | null = null
  do {
    const page = await store.readPage({ threadId, limit, before, live: 'include', results: 'full' })
    if (page === null) return report('CR1', `the thread ${threadId} is gone`)
    if (page.seq !== witness.view.seq) {
      report('LG1', `a page says ${page.seq} where ${witness.view.seq} was stored last`)
    }
    walked.push(...page.messages)
    before = page.hasMore ? (page.messages.at(-1)?.seq ?? null) : null
  } while (before !== null)
  const difference = findDifference(walked.toReversed(), witness.view.messages)
  if (difference !== undefined) report('LG4', `pages of ${limit} have ${difference}`)
}

/** The newest messages, after every commit. */
export async function checkNewest(
  store: Store,
  threadId: ThreadId,
  witness: Witness,
  report: Report,
): Promise<void> {
  const query = { threadId, limit: 2, before: null, live: 'include', results: 'full' } as const
  const page = await store.readPage(query)
  const found = page?.messages.toReversed() ?? []
  const difference = findDifference(found, witness.view.messages.slice(-2))
  if (difference !== undefined) report('LG4', `a reload at ${page?.seq} ${difference}`)
}
