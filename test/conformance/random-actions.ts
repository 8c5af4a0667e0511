import type { NewEvent } from '../../src/core/event.ts'
import {
  type CallId,
  type MessageId,
  parseCallId,
  parseMessageId,
  parseThreadId,
  type ThreadId,
} from '../../src/core/ids.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import type { Random } from '../../src/testing/random.ts'
import {
  ana,
  at,
  begun,
  ended,
  turnEvent,
  recorded,
  resumed,
  messageAdded,
  settled,
  started,
  succeeded,
  text,
} from '../../src/testing/store-rules/thread-script.ts'

/** What one of two processes does in one commit. */
export interface Action {
  readonly who: 0 | 1
  readonly appends: readonly RandomAppend[]
}

export interface RandomAppend extends Pick<Append, 'threadId' | 'events' | 'create'> {
  readonly turnId: MessageId
  /** Leases are of the pair that plays it: fences differ from store to store. */
  readonly as: 'nobody' | 'run' | 'overtaken' | 'acquirer' | 'ender'
  /**
   * What it is planned on: what is stored now, what this process read some actions ago, or what the append
   * before it in the group has left of the same thread.
   */
  readonly basis: 'fresh' | 'remembered' | 'chained'
  readonly isRemembered: boolean
}

export const threads = ['one', 'two', 'three'].map(parseThreadId)
export const turnsOf = (threadId: ThreadId): readonly MessageId[] =>
  [0, 1].map((index) => parseMessageId(`${threadId}-turn-${index}`))
export const callsIn = (turnId: MessageId): readonly CallId[] =>
  [0, 1, 2, 3].map((index) => parseCallId(`${turnId}-call-${index}`))

const create = { ownerId: ana, title: '', at }
const decision = { kind: 'accepted', by: 'ana', at, inputHash: 'h' } as const

/** Makes the thread and begins its first turn. */
export function createAndBegin(who: 0 | 1, threadId: ThreadId): Action {
  const turnId = turnsOf(threadId)[0] as MessageId
  const events = [messageAdded('hi', parseMessageId(`${threadId}-hi`)), started(turnId)]
  const plan = { basis: 'fresh', isRemembered: false, as: 'acquirer' } as const
  return { who, appends: [{ threadId, turnId, create, events, ...plan }] }
}

/** What an action may go by, so that not nearly all of them are refused. */
export interface Known {
  /** Their ids are in use in the thread. */
  endedCalls(threadId: ThreadId): readonly CallId[]
  /** Whether the events may happen, as the thread stands. */
  isLegal(threadId: ThreadId, turnId: MessageId, events: readonly NewEvent[]): boolean
}

export function randomAction(random: Random, known: Known): Action {
  const who = random.chance(0.6) ? 0 : 1
  if (random.chance(0.02)) return createAndBegin(who, random.pick(threads))
  const count = random.chance(0.6) ? 1 : 2 + random.int(3)
  const seen = new Set<ThreadId>()
  const appends = Array.from({ length: count }, (): RandomAppend => {
    const threadId = random.pick(threads)
    const turnId = turnsOf(threadId)[random.chance(0.7) ? 0 : 1] as MessageId
    const isAgain = seen.has(threadId)
    seen.add(threadId)
    const basis = isAgain && random.chance(0.8) ? 'chained' : pickBasis(random)
    const shared = { threadId, turnId, basis, isRemembered: random.chance(0.4) } as const
    if (random.chance(0.06)) return { ...shared, as: 'acquirer', events: [] }
    if (random.chance(0.05)) return { ...shared, as: 'ender', events: [ended(turnId)] }
    const as = random.chance(0.1) ? 'overtaken' : random.chance(0.7) ? 'run' : 'nobody'
    const used = random.chance(0.1) ? known.endedCalls(threadId) : []
    if (used.length > 0) {
      return { ...shared, as, events: callAgain(random, turnId, random.pick(used)) }
    }
    let events = randomEventsOf(random, turnId)
    for (let tries = random.chance(0.85) ? 8 : 0; tries > 0; tries--) {
      if (known.isLegal(threadId, turnId, events)) break
      events = randomEventsOf(random, turnId)
    }
    return { ...shared, as, events }
  })
  return { who, appends }
}

const pickBasis = (random: Random) => (random.chance(0.4) ? 'remembered' : 'fresh')

/** Nobody adds a message and retires it in one append: they retire the old one, then add the new one. */
function withoutOwnRetired(events: readonly NewEvent[]): readonly NewEvent[] {
  const added = new Set<MessageId>()
  return events.filter((event) => {
    if (event.type === 'message-added') added.add(event.messageId)
    return event.type !== 'messages-retired' || !event.messageIds.some((id) => added.has(id))
  })
}

/** A call of an id that is in use. It is refused where it gets a row: here, at once. */
const callAgain = (random: Random, turnId: MessageId, id: CallId): readonly NewEvent[] =>
  random.chance(0.5)
    ? [recorded(id, { turnId, approval: 'required' })]
    : [recorded(id, { turnId }), begun(id, turnId), succeeded('again', id, turnId)]

const randomEventsOf = (random: Random, turnId: MessageId) =>
  withoutOwnRetired(
    Array.from({ length: 1 + random.int(3) }, () => randomEvents(random, turnId)).flat(),
  )

function randomEvents(random: Random, turnId: MessageId): readonly NewEvent[] {
  const ids = callsIn(turnId)
  const id = random.pick(ids)
  const input = { of: id }
  const origin = { id, providerCallId: id, name: 'look_up' }
  const message = parseMessageId(`${turnId}-message-${random.int(3)}`)
  const retry = { kind: 'retry', by: 'ana', at } as const
  return random.pick<() => readonly NewEvent[]>([
    () => [recorded(id, { turnId, input })],
    () => [recorded(id, { turnId, input }), begun(id, turnId)],
    () => ids.flatMap((each) => [recorded(each, { turnId }), begun(each, turnId)]),
    () => [recorded(id, { turnId, approval: 'required' })],
    () => [turnEvent({ type: 'call-announced', callId: id, call: origin }, turnId)],
    () => [begun(id, turnId)],
    () => [succeeded({ result: id }, id, turnId)],
    () => ids.map((each) => succeeded('together', each, turnId)),
    () => [settled({ state: 'failed', cause: 'tool-error', error: 'no' }, id, turnId)],
    () => [settled({ state: 'unknown', cause: 'crashed' }, id, turnId)],
    () => [turnEvent({ type: 'call-resolved', callId: id, resolution: retry }, turnId)],
    () => [turnEvent({ type: 'call-decided', callId: id, decision }, turnId)],
    () => text('some', turnId),
    () => text('more', turnId),
    () => [turnEvent({ type: 'turn-paused', waitingFor: 'client' }, turnId)],
    () => [resumed(turnId)],
    () => [started(turnId)],
    () => [ended(turnId)],
    () => [messageAdded('and?', message)],
    () => [{ type: 'messages-retired', messageIds: [message], at }],
    () => [{ type: 'messages-retired', messageIds: [message], at }, messageAdded('or?', message)],
    () => [{ type: 'thread-renamed', title: `after ${id}`, at }],
  ])()
}
