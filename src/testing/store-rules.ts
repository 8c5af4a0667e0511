import { callback, having, type OptionTable } from '../core/check-options.ts'
import { withCheckedFixtures } from './check-fixture.ts'
import { appendRules } from './store-rules/append-rules.ts'
import { byteRules } from './store-rules/byte-rules.ts'
import { callRules } from './store-rules/call-rules.ts'
import { decisionRules } from './store-rules/decision-rules.ts'
import { changeRules } from './store-rules/change-rules.ts'
import { feedbackRules } from './store-rules/feedback-rules.ts'
import { fileRules } from './store-rules/file-rules.ts'
import { historyRules } from './store-rules/history-rules.ts'
import { keepRules } from './store-rules/keep-rules.ts'
import { lazyRules } from './store-rules/lazy-rules.ts'
import { leaseRules } from './store-rules/lease-rules.ts'
import { lifecycleRules } from './store-rules/lifecycle-rules.ts'
import { retireRules } from './store-rules/retire-rules.ts'
import { rewriteRules } from './store-rules/rewrite-rules.ts'
import { pageRules } from './store-rules/page-rules.ts'
import { queueRules } from './store-rules/queue-rules.ts'
import { shareRules } from './store-rules/share-rules.ts'
import { stopRules } from './store-rules/stop-rules.ts'
import { runRules } from './store-rules/run-rules.ts'
import { snapshotRules } from './store-rules/snapshot-rules.ts'
import type { StoreFixture, StoreRule } from './store-rules/store-rule.ts'
import { threadRules } from './store-rules/thread-rules.ts'
import { valueRules } from './store-rules/value-rules.ts'
import { versionRules } from './store-rules/version-rules.ts'
import { watchRules } from './store-rules/watch-rules.ts'

const clock = having('a clock with now and advance, or null', ['now', 'advance'])

const fixtureRules: OptionTable<StoreFixture> = {
  open: { ...callback(), range: 'a function that opens an empty store' },
  reopen: { ...callback(), range: 'a function that closes a store and opens the same data again' },
  clock: { ...clock, fits: (value) => value === null || clock.fits(value) },
}

/**
 * What every store must do, as data: each rule is a claim and a check that throws. Any test runner can run them.
 *
 * @example
 * for (const { id, claim, check } of storeRules) test(`[${id}] ${claim}`, () => check({ open, reopen, clock: null }))
 */
export const storeRules: readonly StoreRule[] = withCheckedFixtures<StoreFixture, StoreRule>(
  [
    ...threadRules,
    ...appendRules,
    ...valueRules,
    ...lifecycleRules,
    ...callRules,
    ...decisionRules,
    ...leaseRules,
    ...runRules,
    ...stopRules,
    ...queueRules,
    ...snapshotRules,
    ...pageRules,
    ...retireRules,
    ...versionRules,
    ...rewriteRules,
    ...lazyRules,
    ...byteRules,
    ...changeRules,
    ...historyRules,
    ...watchRules,
    ...fileRules,
    ...keepRules,
    ...feedbackRules,
    ...shareRules,
  ],
  () => ({ where: 'The check of a store rule', table: fixtureRules }),
)
