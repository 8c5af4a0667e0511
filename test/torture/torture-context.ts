import type { Random } from '../../src/testing/random.ts'
import type { Shown } from './evidence.ts'
import type { Fleet } from './fleet.ts'

/** What happened, and how often. */
export class CoverageCounters {
  readonly counts = new Map<string, number>()

  add(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times)
  }
}

/** The stream of an answer, which ends when its turn waits or has ended. */
export interface OpenStream {
  readonly threadId: string
  readonly owner: string
  readonly url: string
  /** What it has brought so far, for whoever has to find out why it does not end. */
  turnId: string | undefined
  lastChunk: string
  lastChunkAt: number
}

/** One torture run over one database: what everybody in it shares. */
export interface TortureContext {
  readonly store: 'sqlite' | 'postgres'
  /** The database itself, without a line in between. */
  readonly db: string
  readonly fleet: Fleet
  readonly shown: Shown
  readonly coverage: CoverageCounters
  /** Threads, with whose they are. */
  readonly threads: Map<string, string>
  readonly gaps: string[]
  /** Aborted when no more questions are asked and no more faults begin. */
  readonly over: AbortSignal
  /** The answers that somebody reads right now. */
  readonly streams: Set<OpenStream>
  /** Aborted when streams have had their time to end: whoever still reads one leaves. */
  readonly leaving: AbortSignal
  /** A source of chance for each actor, so that what one draws does not depend on how fast another is. */
  randomFor(actor: string): Random
}
