import type { CallState } from '../core/call.ts'
import type { NewEvent } from '../core/event.ts'
import { type CallId, type MessageId, parseCallId, parseMessageId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import type { PlacedMessage } from './entity-turns.ts'
import type { ReportMend, OldMessage, OldTurn } from './old-message.ts'
import { toTurnEvents } from './turn-events.ts'
import type { PausableWork } from '../core/pausable-work.ts'

/** A message with the id that it has in its thread. */
export interface NamedMessage extends PlacedMessage {
  readonly id: MessageId
}

/** The events of one message or turn, which are stored together or not at all. */
export interface Unit {
  readonly id: MessageId
  readonly isTurn: boolean
  readonly events: readonly NewEvent[]
  /** The states of its calls once it is stored. */
  readonly states: readonly CallState[]
}

type MendAt = (index: number) => ReportMend

export interface MessageNamer {
  name(message: PlacedMessage, mend: ReportMend): NamedMessage
}

/**
 * Gives messages their ids. A message without an id gets one from its content and its date, a turn from the
 * message that it answers: so it has the same id in a list that has grown, and on any page.
 */
export function createMessageNamer(ids: IdKeeper): MessageNamer {
  const seen = new Map<string, number>()
  let question: MessageId | undefined
  let answers = 0
  return {
    name(placed, mend) {
      const { message } = placed
      const again = (key: string): number => {
        const count = seen.get(key) ?? 0
        seen.set(key, count + 1)
        return count
      }
      if (message.kind === 'turn') {
        const own = question ?? JSON.stringify(message.steps[0]?.parts ?? [])
        const id = ids.message(message.id, ['turn', own, answers++], mend)
        return { ...placed, id }
      }
      const key = JSON.stringify([message.role, message.at ?? null, message.parts])
      const id = ids.message(message.id, [key, again(key)], mend)
      if (message.role === 'user') {
        question = id
        answers = 0
      }
      return { ...placed, id }
    },
  }
}

export interface UnitOptions {
  /** The date of a message without one that nothing stands before. */
  readonly at: number
  /** When what stands before them was over: the date of messages without one. */
  readonly after?: number | undefined
  readonly ids: IdKeeper
  /** The last message of a person before these. */
  readonly replyTo: MessageId | null
  /** Whether a message of a person follows them. */
  readonly isFollowed: boolean
  readonly mendAt: MendAt
}

/** The events that store these messages, in order. */
export function* toUnits(
  messages: readonly NamedMessage[],
  { at, after, ids, replyTo, isFollowed, mendAt }: UnitOptions,
): PausableWork<readonly Unit[]> {
  const lastUser = isFollowed
    ? messages.length
    : messages.findLastIndex(({ message }) => isUser(message))
  let question = replyTo
  let before = after ?? earliestOf(messages, at)
  const units: Unit[] = []
  for (const [place, { id, index, message }] of messages.entries()) {
    const date = message.at ?? before
    before = date
    if (message.kind === 'turn') {
      const work = toTurnUnit(message, id, {
        at: date,
        ids,
        replyTo: question,
        isFollowed: place < lastUser,
        mend: mendAt(index),
      })
      const unit = yield* work
      units.push(unit)
      before = endOfUnit(unit)
    } else {
      const { role, parts, metadata } = message
      const added = { type: 'message-added', messageId: id, role, parts, at: date } as const
      if (isUser(message)) question = id
      units.push({ id, isTurn: false, events: [withDefined(added, { metadata })], states: [] })
    }
    yield
  }
  return units
}

/** The date of a first message that has none: what follows it is not older. */
export const earliestOf = (messages: readonly { readonly message: OldMessage }[], at: number) =>
  Math.min(at, messages.find(({ message }) => message.at !== undefined)?.message.at ?? at)

/** When a message was sent, or a turn was over. What people thought of it came later. */
export const endOfUnit = ({ events }: Pick<Unit, 'events'>): number =>
  (events.findLast(({ type }) => type === 'turn-ended') ?? events[0] ?? { at: 0 }).at

/** The same of a message that is stored. */
export function endOfMessage(message: OldMessage): number | undefined {
  const dates = [message.at]
  for (const step of message.kind === 'turn' ? message.steps : []) {
    dates.push(step.at)
    for (const part of step.parts) {
      if (part.type === 'call') dates.push(part.createdAt, part.startedAt, part.endedAt)
      else if (part.type === 'steering') dates.push(part.at)
    }
  }
  return dates.reduce(
    (last, date) => (last === undefined || (date ?? last) > last ? date : last),
    undefined,
  )
}

function* toTurnUnit(
  turn: OldTurn,
  id: MessageId,
  place: Pick<UnitOptions, 'at' | 'ids' | 'replyTo' | 'isFollowed'> & { readonly mend: ReportMend },
): PausableWork<Unit> {
  const { at, ids, replyTo, isFollowed: isFollowedByUser, mend } = place
  let callPlace = 0
  const nextCallId = (old: string | undefined) => ids.call(old, id, callPlace++, mend)
  const options = { turnId: id, replyTo, at, isFollowedByUser, nextCallId, mend }
  const events = yield* toTurnEvents(turn, options)
  return { id, isTurn: true, events, states: statesIn(events) }
}

/** The final state of each call; all of them have ended. */
function statesIn(events: readonly NewEvent[]): readonly CallState[] {
  const states = new Map<string, CallState>()
  for (const event of events) {
    if (event.type === 'call-settled') states.set(event.callId, event.outcome.state)
    if (event.type === 'call-decided' && event.decision.kind === 'rejected') {
      states.set(event.callId, 'denied')
    }
  }
  return [...states.values()]
}

export const isUser = (message: OldMessage): boolean =>
  message.kind === 'user' && message.role === 'user'

/**
 * An id for a message or call without one. It depends only on its position or content, so reading the same
 * data again gives the same id (LE5).
 */
export function deriveId(prefix: 'msg' | 'call', ...place: readonly (string | number)[]): string {
  const hash = createTextHash()
  hash.add(JSON.stringify(place))
  return `${prefix}_${hash.digest()}`
}

/** The state of a hash, in halves of 32 bits: big integers take ten times as long. */
type HashState = readonly [high: number, low: number]

export interface TextHash {
  add(text: string): void
  /** The hash of all that was added, and of this at its end, which is not added. */
  digest(end?: string): string
}

/** FNV-1a over the UTF-16 units, 64 bits: no secret, only a name. A long text can be added in pieces. */
export function createTextHash(): TextHash {
  let state: HashState = [0xcbf29ce4, 0x84222325]
  return {
    add(text) {
      state = hashOn(state, text)
    },
    digest: (end = '') =>
      hashOn(state, end)
        .map((half) => half.toString(16).padStart(8, '0'))
        .join(''),
  }
}

/** The prime is 2^40 + 0x1b3. */
function hashOn(state: HashState, text: string): HashState {
  let [high, low] = state
  for (let index = 0; index < text.length; index++) {
    low = (low ^ text.charCodeAt(index)) >>> 0
    const product = low * 0x1b3
    const carry = (product / 0x100000000) | 0
    high = (high * 0x1b3 + carry + low * 0x100) >>> 0
    low = product >>> 0
  }
  return [high, low]
}

/** Whether an id is already in use. */
export type IsTaken = (kind: 'message' | 'call', id: string) => boolean

/** Keeps ids that are valid and free, and derives the rest from the thread and the position (LG10). */
export interface IdKeeper {
  /** `key` identifies the message wherever it is in the list: in a list that has grown it gets the same id. */
  message(old: string | undefined, key: readonly (string | number)[], mend: ReportMend): MessageId
  /** Of a message that is not shown: an edit may have kept its id, so another may have it (VR1). */
  version(old: string | undefined, key: readonly (string | number)[], mend: ReportMend): MessageId
  call(old: string | undefined, messageId: MessageId, place: number, mend: ReportMend): CallId
  /** Marks the id of a stored call as used. */
  reserveCall(id: CallId): void
}

export function createIdKeeper(threadId: string, isTaken: IsTaken = () => false): IdKeeper {
  const used = { message: new Set<string>(), call: new Set<string>() }
  /** By the first id of a place: the attempt at which a free one was found last. */
  const attempts = { unique: new Map<string, number>(), repeated: new Map<string, number>() }

  /**
   * The first free id of a place. Its text may have megabytes, and whoever writes the data can take any number of its ids:
   * the text is hashed once, and no attempt is made twice (OP7).
   */
  const derive = (
    kind: 'message' | 'call',
    place: readonly (string | number)[],
    isFree: (id: string) => boolean,
    tried: Map<string, number>,
  ): string => {
    const hash = createTextHash()
    hash.add(JSON.stringify([threadId, ...place]).slice(0, -1))
    const toId = (attempt: number) =>
      `${kind === 'call' ? 'call' : 'msg'}_${hash.digest(attempt === 0 ? ']' : `,${attempt}]`)}`
    const first = toId(0)
    let attempt = tried.get(first) ?? 0
    while (!isFree(toId(attempt))) attempt++
    if (attempt > 0) tried.set(first, attempt)
    return toId(attempt)
  }

  const keep = (
    kind: 'message' | 'call',
    old: string | undefined,
    place: readonly (string | number)[],
    mend: ReportMend,
    mayRepeat = false,
  ): string => {
    const isFree = (id: string) => (mayRepeat || !used[kind].has(id)) && !isTaken(kind, id)
    const tried = mayRepeat ? attempts.repeated : attempts.unique
    const id =
      old !== undefined && isValid(old) && isFree(old) ? old : derive(kind, place, isFree, tried)
    if (old !== undefined && id !== old) {
      // A conflict within this import may be reported; that another thread has the id must not be, because
      // the thread may belong to another owner (HT2).
      const why = !isValid(old)
        ? 'is not valid'
        : used[kind].has(old)
          ? 'is in use'
          : 'was not kept'
      mend(`The ${kind} id ${JSON.stringify(old.slice(0, 80))} ${why}: it became ${id}.`)
    }
    used[kind].add(id)
    return id
  }

  return {
    message: (old, key, mend) => parseMessageId(keep('message', old, [...key, old ?? ''], mend)),
    version: (old, key, mend) =>
      parseMessageId(keep('message', old, [...key, old ?? ''], mend, true)),
    call: (old, messageId, place, mend) => parseCallId(keep('call', old, [messageId, place], mend)),
    reserveCall: (id) => used.call.add(id),
  }
}

function isValid(id: string): boolean {
  try {
    parseCallId(id)
    return true
  } catch {
    // The one rule for ids throws on an invalid one.
    return false
  }
}
