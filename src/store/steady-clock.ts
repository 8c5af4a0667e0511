/** A clock may be this far ahead of what was expected of it before it counts as having jumped. */
const toleranceMs = 1_000
/** An outage that is shorter ends no lease: each is renewed several times before it is over. */
const momentMs = 2_000
/** The lease of most processes (`leaseMs`). */
const usualLeaseMs = 5_000

/**
 * How far the store's clock may be believed when it says that a lease is over (CR2). It may jump, and while the database is
 * out of reach nobody can renew: then the leases of all living processes are over at once, and whoever looks first would
 * take their runs. So a time is believed only as far as this process's monotonic clock has come since it last heard from
 * the store. When the store's clock is further, it is believed after the duration of a lease, in which the living renew.
 */
export interface SteadyClock {
  /** The latest time, in milliseconds of the store's clock, by which a lease may be called over. Null: nothing is known yet. */
  latest(): number | null
  /** What the store's clock shows. */
  saw(time: number): void
  /**
   * The store could not be asked: it is out of reach, or locked. Not for a write that it refused: where one is refused every
   * second, the run of a dead process would never be taken over.
   */
  lost(): void
  /** A lease of this duration was taken or renewed: the longest one is waited for. */
  leased(ms: number): void
}

export function createSteadyClock(elapsed: () => number = () => performance.now()): SteadyClock {
  /**
   * The store's clock, less the monotonic one: as it is believed, and as it was seen after each jump. Each is believed by
   * itself: on a machine that sleeps between its looks every one of them is a jump, and the last would never be.
   */
  let believed: number | null = null
  let jumps: readonly { readonly to: number; readonly at: number }[] = []
  let seenAt: number | null = null
  let lostAt: number | null = null
  let leaseMs = usualLeaseMs

  const believeJumps = () => {
    const isOver = ({ at }: { readonly at: number }) => elapsed() - at >= leaseMs
    believed = jumps.findLast(isOver)?.to ?? believed
    jumps = jumps.filter((jump) => !isOver(jump))
  }
  return {
    latest() {
      if (lostAt === null) believeJumps()
      return believed === null ? null : Math.ceil(believed + (lostAt ?? elapsed()) + toleranceMs)
    },
    saw(time) {
      const now = elapsed()
      const offset = time - now
      seenAt = now
      const awayMs = lostAt === null ? 0 : now - lostAt
      lostAt = null
      if (awayMs > momentMs) {
        // As if it had stood still while it was out of reach.
        believed = (believed ?? offset) - awayMs
        jumps = []
      }
      believeJumps()
      if (believed === null || offset <= believed + toleranceMs) {
        believed = offset
        jumps = []
      } else if (offset > (jumps.at(-1)?.to ?? believed) + toleranceMs) {
        jumps = [...jumps, { to: offset, at: now }]
      }
    },
    lost() {
      // It may have been lost for as long as nothing was heard of it.
      lostAt ??= seenAt ?? elapsed()
    },
    leased(ms) {
      leaseMs = Math.max(leaseMs, ms)
    },
  }
}
