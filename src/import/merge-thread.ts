import type { MessageId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import { noCall, type OldThread, type Orphan } from './entity-turns.ts'
import type { NamedMessage } from './import-units.ts'
import { callsIn, isUnanswered, joinTurns, mergeTurn } from './merge-turn.ts'
import { unnamed } from './old-call.ts'
import {
  hasEnded,
  type OldCall,
  type OldMessage,
  type OldTurn,
  type Report,
} from './old-message.ts'
import { textOfStep } from './steps.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'

/** A message of the thread as it is stored. */
export interface StoredMessage {
  readonly id: MessageId
  readonly message: OldMessage
  /** False: a person or the engine has changed it since, so an import must not change it. */
  readonly isImported: boolean
}

/** A message of the thread after the merge. */
export interface MergedMessage extends NamedMessage {
  /** `kept`: unchanged. `left`: new content of it was read, and it must not be changed. */
  readonly fate: 'kept' | 'changed' | 'added' | 'left'
  /** Whether it is among the messages that were read. */
  readonly isRead: boolean
}

export interface MergedThread {
  readonly messages: readonly MergedMessage[]
  /** How many of the messages that were read are stored already. */
  readonly known: number
}

/**
 * Merges the stored thread with the messages that were read. A stored message keeps its position and changes
 * only by what has ended since; a new message is placed by the messages around it that both lists have, and
 * by dates.
 */
export function* mergeThread(
  stored: readonly StoredMessage[],
  read: readonly NamedMessage[],
  { orphans, isNewestFirst = false }: Omit<OldThread, 'messages'>,
  report: Report,
): PausableWork<MergedThread> {
  const places = yield* findPlaces(stored, read)
  const entries: MergedMessage[] = stored.map(({ id, message }) => ({
    ...{ id, message, index: -1, fate: 'kept', isRead: false },
  }))
  const isChangeable = (place: number) => stored[place]?.isImported === true
  const change = (place: number, message: OldTurn, index: number) => {
    const entry = entries[place] as MergedMessage
    entries[place] = isChangeable(place)
      ? { ...entry, message, index, fate: 'changed' }
      : { ...entry, index, fate: 'left' }
  }
  let known = 0
  const added = new Map<number, MergedMessage[]>()
  const gaps = createGaps(stored, read, places, isNewestFirst)
  let guesses = 0
  for (const [nth, item] of read.entries()) {
    yield
    const place = places[nth]
    if (place !== undefined) {
      known++
      const entry = entries[place] as MergedMessage
      entries[place] = { ...entry, isRead: true }
      const old = entry.message
      const merged =
        old.kind === 'turn' && item.message.kind === 'turn'
          ? mergeTurn(old, item.message, item.joins !== undefined)
          : undefined
      if (merged !== undefined) change(place, merged, item.index)
      continue
    }
    const gap = gaps.find(nth)
    if (gap.isGuess && guesses++ === 0) {
      report.guess(item.index, 'Where it stands among what is stored is a guess: it has no date.')
    }
    if (fallsInto(item.message, stored[gap.place - 1]?.message)) {
      report.guess(
        item.index,
        'It falls into the middle of a turn that is stored: its rows may be of two.',
      )
    }
    const others = added.get(gap.place)
    const one: MergedMessage = { ...item, fate: 'added', isRead: true }
    if (others === undefined) added.set(gap.place, [one])
    else others.push(one)
  }
  for (const orphan of orphans) {
    yield
    const at = entries.findLastIndex(
      ({ message }) => findLeft(message, orphan.callId) !== undefined,
    )
    const found = entries[at]
    if (found?.message.kind !== 'turn') report.fail(orphan.index, noCall)
    else change(at, settleIn(found.message, orphan), orphan.index)
  }
  const all: MergedMessage[] = []
  for (let place = 0; place <= entries.length; place++) {
    for (const one of added.get(place) ?? []) all.push(one)
    const entry = entries[place]
    if (entry !== undefined) all.push(entry)
  }
  return {
    messages: joinEdges(all, new Set(stored.filter((one) => !one.isImported).map(({ id }) => id))),
    known,
  }
}

/** Pieces of two turns were joined into one, because the message between them had not been imported yet. */
function fallsInto(message: OldMessage, turn: OldMessage | undefined): boolean {
  const at = message.kind === 'user' ? message.at : undefined
  if (at === undefined || turn?.kind !== 'turn') return false
  return turn.steps.some((step) => step.at !== undefined && step.at > at)
}

/** For each message that was read, the index of the same stored message. */
function* findPlaces(
  stored: readonly StoredMessage[],
  read: readonly NamedMessage[],
): PausableWork<readonly (number | undefined)[]> {
  const byId = new Map(stored.map(({ id }, place) => [id as string, place]))
  const taken = new Set<number>()
  return yield* mapInSteps(read, ({ id, message, joins }, nth) => {
    const others = message.kind === 'turn' ? (message.otherIds ?? []) : []
    // A turn that has grown may have the id of its last row, and was stored under that of its first.
    let place = [id, ...others].map((some) => byId.get(some)).find((some) => some !== undefined)
    const isAtEdge = nth === 0 || nth === read.length - 1
    if (place === undefined && isAtEdge && joins !== undefined && message.kind === 'turn') {
      const found = stored.findIndex(
        ({ message: old }) => old.kind === 'turn' && holds(old, message),
      )
      place = found < 0 ? undefined : found
    }
    if (place === undefined || taken.has(place)) return undefined
    if ((stored[place]?.message.kind === 'turn') !== (message.kind === 'turn')) return undefined
    taken.add(place)
    return place
  })
}

/** Whether a turn contains these rows already: a page that is read again may begin in the middle of it. */
function holds(turn: OldTurn, piece: OldTurn): boolean {
  const known = callsIn(turn)
  return (
    piece.steps.length > 0 &&
    piece.steps.every((step) => {
      const calls = step.parts.filter((part) => part.type === 'call')
      const hasCalls = calls.every((call) =>
        known.some((other) => other.id === call.id && isSameCall(other, call)),
      )
      const text = textOfStep(step)
      const hasText =
        text === '' ||
        turn.steps.some((other) => other.at === step.at && textOfStep(other) === text)
      return hasCalls && hasText && (calls.length > 0 || (text !== '' && step.at !== undefined))
    })
  )
}

/** Same arguments and same time; or only the result, whose call is unknown. */
const isSameCall = (stored: OldCall, call: OldCall): boolean =>
  call.name === unnamed
    ? stored.endedAt === call.endedAt
    : stored.name === call.name && (call.createdAt ?? stored.createdAt) === stored.createdAt

/** Finds for each new message the stored one that it belongs before. */
function createGaps(
  stored: readonly StoredMessage[],
  read: readonly NamedMessage[],
  places: readonly (number | undefined)[],
  isNewestFirst: boolean,
) {
  const isApart = places.every((place) => place === undefined)
  const dateOf = (place: number) => stored[place]?.message.at
  const after = findNext(places)
  let from = 0
  return {
    /** Must be called in the order of the messages that were read. */
    find(nth: number): { readonly place: number; readonly isGuess: boolean } {
      const before = nth === 0 ? undefined : places[nth - 1]
      if (before !== undefined) from = Math.max(from, before + 1)
      let next = after[nth]
      while (next !== undefined && (places[next] ?? 0) < from) next = after[next]
      const to = next === undefined ? stored.length : (places[next] ?? stored.length)
      const at = read[nth]?.message.at
      if (to === from || at === undefined) {
        const isGuess = to > from
        // A page of a newest-first list is older than the pages before it.
        if (!(isApart && isNewestFirst)) from = to
        return { place: from, isGuess }
      }
      // A page that is older as a whole goes before, also where two messages have the same date.
      const isOlder = (read[0]?.message.at ?? at) < (dateOf(from) ?? at)
      const isBefore = (date: number) => (isOlder ? date < at : date <= at)
      let place = from
      while (place < to && isBefore(dateOf(place) ?? at)) place++
      from = place
      return { place, isGuess: false }
    },
  }
}

/** For each message that was read, the next one that is stored. */
function findNext(places: readonly (number | undefined)[]): readonly (number | undefined)[] {
  const after: (number | undefined)[] = []
  let next: number | undefined
  for (let nth = places.length - 1; nth >= 0; nth--) {
    after[nth] = next
    if (places[nth] !== undefined) next = nth
  }
  return after
}

const isLeft = (call: OldCall): boolean =>
  !hasEnded(call) ||
  (typeof call.outcome === 'object' &&
    ['interrupted', 'unknown', 'stopped'].includes(call.outcome.state))

function findLeft(message: OldMessage, callId: string): OldCall | undefined {
  if (message.kind !== 'turn') return undefined
  return callsIn(message).findLast((call) => call.id === callId && isLeft(call))
}

function settleIn(turn: OldTurn, { callId, end }: Orphan): OldTurn {
  const left = findLeft(turn, callId)
  const { ending: _, ...rest } = turn
  return {
    ...rest,
    steps: turn.steps.map((step) => ({
      ...step,
      parts: step.parts.map((part) => (part === left ? end(left) : part)),
    })),
  }
}

/** A page may end in the middle of a turn: the pieces on both sides of its edge are one turn. */
function joinEdges(
  messages: readonly MergedMessage[],
  fixed: ReadonlySet<MessageId>,
): readonly MergedMessage[] {
  const joined: MergedMessage[] = []
  /** Whether the last piece of the last message is new. */
  let endsNew = false
  for (const item of messages) {
    const last = joined.at(-1)
    const isNew = item.fate === 'added'
    const isEdge =
      last !== undefined &&
      endsNew !== isNew &&
      !fixed.has(last.id) &&
      !fixed.has(item.id) &&
      goesOn(last, item, isNew ? item.joins : last.joins)
    if (isEdge) {
      const message = joinTurns(last.message as OldTurn, item.message as OldTurn)
      const id = last.fate === 'added' && !isNew ? item.id : last.id
      const index = Math.max(last.index, item.index)
      const fate = last.fate === 'added' && isNew ? 'added' : 'changed'
      const joins = item.joins ?? last.joins
      joined[joined.length - 1] = withDefined({ id, index, message, fate, isRead: true } as const, {
        joins,
      })
    } else joined.push(item)
    endsNew = isNew
  }
  return joined
}

function goesOn(first: MergedMessage, second: MergedMessage, how: NamedMessage['joins']): boolean {
  if (first.message.kind !== 'turn' || second.message.kind !== 'turn') return false
  if (how === undefined || !isUnanswered(first.message)) return false
  return how === 'by-shape' || first.id === second.id
}
