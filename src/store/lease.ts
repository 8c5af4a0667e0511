import { assertNever } from '../core/assert-never.ts'
import type { MessageId, OwnerId, Seq } from '../core/ids.ts'
import { isAnother } from '../core/thread-place.ts'

/**
 * A thread has at most one run. Its lease has a fencing number that grows with each holder, so a holder that
 * lost its lease can write nothing afterwards (CR2). Times are those of the store's clock, never the
 * caller's.
 */
export type LeaseUse =
  | {
      readonly kind: 'acquire'
      readonly holder: string
      readonly ttlMs: number
      readonly turnId: MessageId
      /** Acquires the lease from the holder of this fence even if it has not expired. */
      readonly overFence?: number
    }
  /** With `renewMs: 0` the lease is handed over: it stops binding at once, although its holder lives. */
  | { readonly kind: 'hold'; readonly fence: number; readonly renewMs?: number }
  | { readonly kind: 'release'; readonly fence: number }

/** The columns of the thread's row that an append is compared with. */
export interface ThreadHead {
  readonly ownerId: OwnerId
  readonly incarnation: string
  readonly seq: Seq
  readonly fence: number
  readonly holder: string | null
  readonly turnId: MessageId | null
  /** In milliseconds of the store's clock. 0: handed over. */
  readonly until: number | null
  readonly stopFence: number | null
}

/** The head of a new thread: no event, no lease. */
export const newThreadHead = (ownerId: OwnerId, incarnation: string): ThreadHead => ({
  ownerId,
  incarnation,
  seq: 0,
  fence: 0,
  holder: null,
  turnId: null,
  until: null,
  stopFence: null,
})

/** What a store needs to decide whether a lease still binds. */
export interface LeaseClock {
  readonly now: () => number
  readonly isAlive: IsHolderAlive
}

/**
 * Whether the process of a lease's holder lives. True: its lease binds even after its time, because the
 * process may have been busy or the clock may have jumped. False: the process is gone, and its lease ends at
 * once. Undefined: unknown here, and the lease's time decides.
 */
export type IsHolderAlive = (holder: string) => boolean | undefined

/**
 * The one rule of whether a lease binds. A clock alone must not end the run of a process that is known to
 * live (CR2). PostgreSQL cannot tell who lives: there the rule is `leaseHeld`, and a clock that jumps is believed late
 * (`SteadyClock`).
 */
export const isHeld = (
  { holder, until }: Pick<ThreadHead, 'holder' | 'until'>,
  { now, isAlive }: LeaseClock,
): boolean => holder !== null && until !== 0 && (isAlive(holder) ?? (until ?? 0) > now())

/**
 * The thread as the writer has read it: a thread that was created again under its id since, perhaps by another owner, is
 * not the one that was meant.
 */
export interface ThreadPrecondition {
  /** Default: any. */
  readonly expectedSeq?: Seq
  /** See `Append`. */
  readonly incarnation?: string | undefined
}

/** The preconditions of an append: the thread as it was read, its owner, and the lease it is written under. */
export interface AppendClaim extends ThreadPrecondition {
  readonly create?: { readonly ownerId: OwnerId }
  readonly lease?: LeaseUse
}

/** Why an append was refused. Nothing of it was stored. */
export type AppendRefusal =
  | { readonly kind: 'no-thread' }
  /** The thread is not as the writer has read it: at another seq, or another thread under the same id (OP6). */
  | { readonly kind: 'stale'; readonly seq: Seq }
  | { readonly kind: 'fenced'; readonly fence: number }
  | {
      readonly kind: 'leased'
      readonly holder: string
      readonly turnId: MessageId
      readonly fence: number
    }

/** The result of an append that was stored. */
export interface Appended {
  readonly kind: 'appended'
  /** The seq of the first event of this append; `seq + 1` if it had no events. */
  readonly firstSeq: Seq
  readonly seq: Seq
  /** The lease's fencing number, where one is held. */
  readonly fence?: number
  readonly stopRequested: boolean
  /** The incarnation of the thread that it was stored in (OP6). */
  readonly incarnation?: string
}

/**
 * The one rule of who may write, always checked in this order: no thread, stale, then the lease. `binds`
 * decides by the store's clock whether the lease still binds.
 *
 * The seq alone would not tell a thread from one that was created again under its id and has come to the same seq: what
 * was planned on the old one, a decision or an edit, would be stored in a conversation that it is not about. `stale` and
 * not `no-thread`, because a person's request reads again and finds what is there now.
 */
export function judgeAppend(
  head: ThreadHead | null,
  binds: (head: ThreadHead) => boolean,
  claim: AppendClaim,
): AppendRefusal | null {
  const { create, lease } = claim
  if (head === null || (create !== undefined && head.ownerId !== create.ownerId)) {
    return { kind: 'no-thread' }
  }
  const { seq, fence, holder, turnId } = head
  if (isStale(head, claim)) return { kind: 'stale', seq }
  if (lease === undefined) return null
  if (lease.kind !== 'acquire') {
    return holder === null || lease.fence !== fence ? { kind: 'fenced', fence } : null
  }
  if (holder === null || turnId === null || lease.overFence === fence || !binds(head)) return null
  return { kind: 'leased', holder, turnId, fence }
}

/** Whether the thread is not the one that was planned on, or no longer at that seq. */
export const isStale = (
  { seq, incarnation: stored }: Pick<ThreadHead, 'seq' | 'incarnation'>,
  { expectedSeq = seq, incarnation = '' }: ThreadPrecondition,
): boolean => expectedSeq !== seq || isAnother(incarnation, stored)

/** Which run of a thread is to stop. */
export interface RunToStop {
  /** @default whichever runs */
  readonly turnId?: MessageId | undefined
  /** Of the thread that was read, and of no other under its id (OP6). @default any */
  readonly incarnation?: string | undefined
}

/** Whether a request to stop is for the run that holds the lease. PostgreSQL has the same condition in SQL. */
export const isRunToStop = (
  { turnId, incarnation: stored }: { readonly turnId: MessageId; readonly incarnation: string },
  { turnId: wanted = turnId, incarnation = '' }: RunToStop,
): boolean => wanted === turnId && !isAnother(incarnation, stored)

/**
 * The thread's head after a use of the lease that `judgeAppend` allowed. `newFence` returns a number larger
 * than any before.
 */
export function useLease(
  head: ThreadHead,
  use: LeaseUse | undefined,
  now: number,
  newFence: () => number,
): ThreadHead {
  switch (use?.kind) {
    case undefined:
      return head
    case 'acquire': {
      const { holder, turnId, ttlMs } = use
      // Fences count for the whole store: a thread made again under an old id must not reuse one, or a late
      // writer of the old thread could write to the new one.
      const fence = Math.max(head.fence + 1, newFence())
      return { ...head, fence, holder, turnId, until: Math.ceil(now + ttlMs), stopFence: null }
    }
    case 'hold': {
      const { renewMs } = use
      if (renewMs === undefined) return head
      return { ...head, until: renewMs === 0 ? 0 : Math.ceil(now + renewMs) }
    }
    case 'release':
      return { ...head, holder: null, turnId: null, until: null }
    default:
      return assertNever(use)
  }
}

/** The result for an append that was stored, after which the thread has this head. */
export function toAppended(head: ThreadHead, size: number, use: LeaseUse | undefined): Appended {
  const stopRequested = head.holder !== null && head.stopFence === head.fence
  return appendedAt(head, stopRequested, size, use)
}

/** The same where the database has found whether a stop was requested. */
export function appendedAt(
  { seq, fence, incarnation }: Pick<ThreadHead, 'seq' | 'fence' | 'incarnation'>,
  stopRequested: boolean,
  size: number,
  use: LeaseUse | undefined,
): Appended {
  const held = use === undefined ? {} : { fence }
  return { kind: 'appended', firstSeq: seq - size + 1, seq, ...held, stopRequested, incarnation }
}
