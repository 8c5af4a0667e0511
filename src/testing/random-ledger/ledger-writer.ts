import type { Call } from '../../core/call.ts'
import type { NewEvent, NewThreadEvent, NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { type CallId, type MessageId, parseCallId, parseMessageId } from '../../core/ids.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import type { Random } from '../random.ts'

/** Writes a ledger event by event, and has the state of the open turn by the fold. */
export interface LedgerWriter {
  readonly random: Random
  readonly events: readonly NewEvent[]
  now(): number
  newMessageId(kind: 'user' | 'turn'): MessageId
  newCallId(): CallId
  addToThread(event: NewThreadEvent): void
  startTurn(replyTo: MessageId | null): void
  /** An event of the open turn. */
  add(this: void, event: TurnEventBody): void
  addAll(events: readonly NewTurnEvent[]): void
  turn(this: void): Turn
  findCall(id: CallId): Call
}

export function createLedgerWriter(random: Random, name: string): LedgerWriter {
  const events: NewEvent[] = []
  let at = 1_760_000_000_000
  let ids = 0
  let turn: Turn | undefined

  const openTurn = (): Turn => {
    if (turn === undefined) throw new Error('No turn has been started.')
    return turn
  }
  // Most events share their time with the one before: no code may order by a clock (LG1).
  const tick = (): number => {
    if (random.chance(0.4)) at += random.int(50)
    return at
  }
  const push = (event: NewTurnEvent): void => {
    events.push(event)
    turn = foldTurn(openTurn(), [{ ...event, seq: events.length }])
  }

  return {
    random,
    events,
    now: () => at,
    newMessageId: (kind) => parseMessageId(`${kind}-${name}-${(ids += 1)}`),
    newCallId: () => parseCallId(`call-${name}-${(ids += 1)}`),
    addToThread: (event) => events.push(event),
    startTurn(replyTo) {
      const turnId = this.newMessageId('turn')
      turn = emptyTurn(turnId, events.length + 1, tick())
      const metadata = random.chance(0.2) ? { model: 'demo', tags: ['a', 'b'] } : undefined
      push({
        type: 'turn-started',
        turnId,
        at,
        replyTo,
        ...(metadata === undefined ? {} : { metadata }),
      })
    },
    add: (event) => push({ ...event, turnId: openTurn().id, at: tick() }),
    addAll(list) {
      for (const event of list) push(event)
    },
    turn: openTurn,
    findCall(id) {
      for (const call of callsOf(openTurn())) if (call.id === id) return call
      throw new Error(`There is no call ${id}.`)
    },
  }
}
