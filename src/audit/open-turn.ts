import { needsPerson } from '../core/call.ts'
import type { TurnEvent } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import type { CallId } from '../core/ids.ts'
import { callsOf, type Turn } from '../core/message.ts'
import type { AuditEvent, AuditLease, AuditMessage } from '../store/audit.ts'
import { readExpectedTurn } from './expected-turn.ts'

/** A turn with events that are not in its body, folded while they are read. */
export class OpenTurn {
  readonly row: AuditMessage
  readonly settledBy = new Map<CallId, AuditEvent>()
  readonly isBodyReadable: boolean
  #turn: Turn
  #events: TurnEvent[] = []
  #lastAt: number
  #hasStart: boolean

  constructor(row: AuditMessage) {
    const { messageId, seq, createdAt } = row
    const body = readExpectedTurn(row)
    this.row = row
    this.isBodyReadable = row.body === null || body !== null
    this.#turn = body ?? emptyTurn(messageId, seq, createdAt)
    this.#hasStart = row.body !== null
    this.#lastAt = createdAt
  }

  /** Returns false, and leaves the event out, if its call was settled already. */
  add(row: AuditEvent, event: TurnEvent): boolean {
    this.#lastAt = Math.max(this.#lastAt, event.at)
    if (event.seq === this.row.seq) this.#hasStart = true
    // Text cannot contradict any row and is most of a turn: folding it would cost time and memory for
    // nothing.
    if (/^(?:text|item)-|^call-(?:input|progressed)/.test(event.type)) return true
    if (event.type === 'call-settled' || event.type === 'call-resolved') {
      if (event.type === 'call-settled' && this.settledBy.has(event.callId)) return false
      const isRetry = event.type === 'call-resolved' && event.resolution.kind === 'retry'
      if (isRetry) this.settledBy.delete(event.callId)
      else this.settledBy.set(event.callId, row)
    }
    this.#events.push(event)
    if (this.#events.length >= 1_000) this.#fold()
    return true
  }

  get turn(): Turn {
    this.#fold()
    return this.#turn
  }

  get hasStart(): boolean {
    return this.#hasStart
  }

  /** Returns why no run will ever continue the turn; undefined if one may. */
  findStuck(lease: AuditLease | null, now: number): string | undefined {
    const { progress, id, replyTo } = this.turn
    const isQuiet = this.#lastAt < now - quietMs
    switch (progress.status) {
      case 'ended':
        return undefined
      case 'waiting': {
        const isWaitedFor =
          progress.waitingFor === 'client' ||
          // Decided, and the host's own loop continues it, at any later time.
          this.turn.recorded === true ||
          [...callsOf(this.turn)].some(needsPerson)
        return isWaitedFor || !isQuiet
          ? undefined
          : 'It is marked as waiting, but none of its calls waits.'
      }
      case 'running':
        if (lease?.turnId === id)
          return lease.isHeld ? undefined : 'The process that ran it is dead.'
        // A loop of the host's own writes its calls without a lease.
        if (replyTo === null && !isQuiet) return undefined
        return 'It is marked as running, but no process runs it.'
    }
  }

  #fold(): void {
    this.#turn = foldTurn(this.#turn, this.#events)
    this.#events = []
  }
}

/** After this time without an event, a turn without a lease counts as stuck. */
const quietMs = 600_000
