import { needsPerson } from '../core/call.ts'
import type { TurnEvent } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import type { CallId } from '../core/ids.ts'
import { callsOf, type Turn } from '../core/message.ts'
import type { AuditEvent, AuditLease, AuditMessage } from '../store/audit.ts'
import { readToldTurn } from './told-turn.ts'

/** A turn that has facts besides its body, while they are read. */
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
    const told = readToldTurn(row)
    this.row = row
    this.isBodyReadable = row.body === null || told !== null
    this.#turn = told ?? emptyTurn(messageId, seq, createdAt)
    this.#hasStart = row.body !== null
    this.#lastAt = createdAt
  }

  /** False: it settles a call that had been settled already. */
  add(row: AuditEvent, event: TurnEvent): boolean {
    this.#lastAt = Math.max(this.#lastAt, event.at)
    if (event.seq === this.row.seq) this.#hasStart = true
    // Text cannot contradict anything, and there is much of it.
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

  /** Why nobody will ever carry it on. */
  findStuck(lease: AuditLease | null, now: number): string | undefined {
    const { progress, id, replyTo } = this.turn
    const isQuiet = this.#lastAt < now - quietMs
    switch (progress.status) {
      case 'ended':
        return undefined
      case 'waiting': {
        const isWaitedFor =
          progress.waitingFor === 'client' ||
          // Decided, and for the host's own loop to go on with, whenever that comes back to it.
          this.turn.recorded === true ||
          [...callsOf(this.turn)].some(needsPerson)
        return isWaitedFor || !isQuiet
          ? undefined
          : 'It waits for a person, and none of its calls does.'
      }
      case 'running':
        if (lease?.turnId === id)
          return lease.isHeld ? undefined : 'The process that ran it is gone.'
        // A loop of the host's own writes its calls without a lease.
        if (replyTo === null && !isQuiet) return undefined
        return 'It says that it is running, and nobody runs it.'
    }
  }

  #fold(): void {
    this.#turn = foldTurn(this.#turn, this.#events)
    this.#events = []
  }
}

/** How long a turn may be silent that nothing in the database vouches for. */
const quietMs = 600_000
