import type { Store } from '../../store/store.ts'

/** What a runner gives to a rule. */
export interface StoreFixture {
  /** A store with nothing in it, on data of its own each time. */
  readonly open: () => Promise<Store>
  /** Closes a store and opens the same data again. One that cannot outlive itself is given back. */
  readonly reopen: (store: Store) => Promise<Store>
  /** The clock that leases run by; null where the database's own decides. */
  readonly clock: StoreClock | null
}

/** A clock that a rule can move. */
export interface StoreClock {
  /** Milliseconds; the store reads its time here. */
  now(): number
  /** Moves the clock on, so that leases run out without waiting. */
  advance(ms: number): void
}

/** A rule that every store keeps. `check` throws where it does not hold. */
export interface StoreRule {
  /** The rule of docs/spec.md that it shows, in part or whole. */
  readonly id: string
  readonly claim: string
  readonly check: (fixture: StoreFixture) => Promise<void>
}
