import type { Store } from '../../store/store.ts'

/** What a runner passes to a rule. */
export interface StoreFixture {
  /** Opens an empty store, with its own data each time. */
  readonly open: () => Promise<Store>
  /**
   * Closes a store and opens the same data again. A store that does not outlive its process is returned as it
   * is.
   */
  readonly reopen: (store: Store) => Promise<Store>
  /** The clock of leases; null where the database's own clock decides. */
  readonly clock: StoreClock | null
}

/** A clock that a rule can move. */
export interface StoreClock {
  /** Milliseconds; the store reads its time here. */
  now(): number
  /** Advances the clock, so that leases expire without waiting. */
  advance(ms: number): void
}

/** A rule for every store. `check` throws where the store breaks it. */
export interface StoreRule {
  /** The rule of docs/spec.md that it tests, in part or whole. */
  readonly id: string
  readonly claim: string
  readonly check: (fixture: StoreFixture) => Promise<void>
}
