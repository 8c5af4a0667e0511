import { assertNever } from '../core/assert-never.ts'
import type { MessageId, OwnerId, Seq } from '../core/ids.ts'

/**
 * One run per thread. A lease has a fencing number that grows with each holder, so one that comes
 * back late can write nothing (CR2). Times are the store's own, never the caller's.
 */
export type LeaseUse =
  | {
      readonly kind: 'acquire'
      readonly holder: string
      readonly ttlMs: number
      readonly turnId: MessageId
      /** Take it from the holder of this fence even if its lease has not run out. */
      readonly overFence?: number
    }
  /** With `renewMs: 0` it is handed over: it binds nobody any more, though its holder lives. */
  | { readonly kind: 'hold'; readonly fence: number; readonly renewMs?: number }
  | { readonly kind: 'release'; readonly fence: number }

/** What an append is compared with: the thread's row. */
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

/** By which a store judges whether a lease still binds. */
export interface LeaseClock {
  readonly now: () => number
  readonly isAlive: IsHolderAlive
}

/**
 * Whether the process behind a holder lives. True: it does, and its lease binds though it has run out, because the
 * process was busy or a clock jumped. False: it is gone, and its lease need not run out. Undefined: nobody
 * can know from here, and the time decides.
 */
export type IsHolderAlive = (holder: string) => boolean | undefined

/** The one rule of whether a lease binds. A clock alone must not end the run of a process that is seen to live (CR2). */
export const isHeld = (
  { holder, until }: Pick<ThreadHead, 'holder' | 'until'>,
  { now, isAlive }: LeaseClock,
): boolean => holder !== null && until !== 0 && (isAlive(holder) ?? (until ?? 0) > now())

/** Where an append stands, and as whom it writes. */
export interface AppendClaim {
  readonly expectedSeq?: Seq
  readonly create?: { readonly ownerId: OwnerId }
  readonly lease?: LeaseUse
}

export type AppendRefusal =
  | { readonly kind: 'no-thread' }
  | { readonly kind: 'stale'; readonly seq: Seq }
  | { readonly kind: 'fenced'; readonly fence: number }
  | {
      readonly kind: 'leased'
      readonly holder: string
      readonly turnId: MessageId
      readonly fence: number
    }

export interface Appended {
  readonly kind: 'appended'
  /** The number of the first event of this append; `seq + 1` if it had none. */
  readonly firstSeq: Seq
  readonly seq: Seq
  /** The lease's fencing number, where one is held. */
  readonly fence?: number
  readonly stopRequested: boolean
  /** Which of the threads that have had this id it was stored in (OP6). */
  readonly incarnation?: string
}

/**
 * The rule of who may write, in the one order in which it is told: no thread, stale, then the lease.
 * `binds` is the store's word on whether the lease still does: its holder lives and it has not run out.
 */
export function judgeAppend(
  head: ThreadHead | null,
  binds: (head: ThreadHead) => boolean,
  { expectedSeq, create, lease }: AppendClaim,
): AppendRefusal | null {
  if (head === null || (create !== undefined && head.ownerId !== create.ownerId)) {
    return { kind: 'no-thread' }
  }
  const { seq, fence, holder, turnId } = head
  if (expectedSeq !== undefined && expectedSeq !== seq) return { kind: 'stale', seq }
  if (lease === undefined) return null
  if (lease.kind !== 'acquire') {
    return holder === null || lease.fence !== fence ? { kind: 'fenced', fence } : null
  }
  if (holder === null || turnId === null || lease.overFence === fence || !binds(head)) return null
  return { kind: 'leased', holder, turnId, fence }
}

/** The lease as it is once a use that `judgeAppend` allowed is written. `newFence` is larger than any before. */
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
      // Of the whole store: a thread that is made anew under an old id does not begin again.
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

/** What an append that was stored is told. */
export function toAppended(head: ThreadHead, size: number, use: LeaseUse | undefined): Appended {
  return {
    kind: 'appended',
    firstSeq: head.seq - size + 1,
    seq: head.seq,
    ...(use === undefined ? {} : { fence: head.fence }),
    stopRequested: head.holder !== null && head.stopFence === head.fence,
    incarnation: head.incarnation,
  }
}
