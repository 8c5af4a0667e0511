import type { AppendResult, LeaseUse } from '../store.ts'
import type { LeaseRow } from './ledger-row.ts'
import type { SteadyRuns } from './steady-runs.ts'

export interface LeaseContext {
  readonly now: () => number
  readonly isAlive: (holder: string) => boolean
}

export interface AppendContext extends LeaseContext {
  /** The next number of the whole store: see `readCounter`. */
  readonly nextCounter: () => number
  readonly runs: SteadyRuns
}

type Refusal = Exclude<AppendResult, { readonly kind: 'appended' }>

/** Whether a lease binds anyone: one that has run out, or whose holder is dead, is free to take. */
export function isHeld(
  lease: { readonly holder: string | null; readonly until: number | null },
  { now, isAlive }: LeaseContext,
): boolean {
  return lease.holder !== null && (lease.until ?? 0) > now() && isAlive(lease.holder)
}

/** CR2: a run that was taken over can write nothing, and nobody runs beside a live one. */
export function checkLease(
  row: LeaseRow,
  use: LeaseUse | undefined,
  context: LeaseContext,
): Refusal | undefined {
  if (use === undefined) return undefined
  const { fence, holder, turnId } = row
  if (use.kind !== 'acquire') {
    return holder === null || use.fence !== fence ? { kind: 'fenced', fence } : undefined
  }
  if (holder === null || turnId === null || use.overFence === fence) return undefined
  return isHeld(row, context) ? { kind: 'leased', holder, turnId, fence } : undefined
}
