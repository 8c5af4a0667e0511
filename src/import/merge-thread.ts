import type { MessageId } from '../core/ids.ts'
import { withDefined } from '../core/with-defined.ts'
import { noCall, type OldThread, type Orphan } from './entity-turns.ts'
import type { NamedMessage } from './import-units.ts'
import { areTooManyParts, hasTooManyParts } from './message-width.ts'
import { isUnanswered, joinTurns, mergeTurn, indexTurn } from './merge-turn.ts'
import { unnamed } from './old-call.ts'
import {
  hasEnded,
  type OldCall,
  type OldMessage,
  type OldPart,
  type OldTurn,
  type Report,
} from './old-message.ts'
import { textOfStep } from './steps.ts'
import type { PausableWork } from '../core/pausable-work.ts'

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
  const fallsInto = createFalls()
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
          ? yield* mergeTurn(yield* indexTurn(old), item.message, item.joins !== undefined)
          : undefined
      if (merged !== undefined && !hasTooManyParts(merged, item.index, report)) {
        change(place, merged, item.index)
      }
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
  yield* settleOrphans(entries, orphans, isChangeable, report)
  const all: MergedMessage[] = []
  for (let place = 0; place <= entries.length; place++) {
    for (const one of added.get(place) ?? []) all.push(one)
    const entry = entries[place]
    if (entry !== undefined) all.push(entry)
  }
  const fixed = new Set(stored.filter((one) => !one.isImported).map(({ id }) => id))
  return { messages: yield* joinEdges(all, fixed), known }
}

/** Pieces of two turns were joined into one, because the message between them had not been imported yet. */
function createFalls(): (message: OldMessage, turn: OldMessage | undefined) => boolean {
  /** The last date of each turn: thousands of messages may stand behind one with as many steps. */
  const lastDates = new Map<OldTurn, number>()
  return (message, turn) => {
    const at = message.kind === 'user' ? message.at : undefined
    if (at === undefined || turn?.kind !== 'turn') return false
    const last = lastDates.get(turn) ?? lastDateOf(turn)
    lastDates.set(turn, last)
    return last > at
  }
}

const lastDateOf = ({ steps }: OldTurn): number =>
  steps.reduce((last, { at }) => Math.max(last, at ?? last), Number.NEGATIVE_INFINITY)

/** For each message that was read, the index of the same stored message. */
function* findPlaces(
  stored: readonly StoredMessage[],
  read: readonly NamedMessage[],
): PausableWork<readonly (number | undefined)[]> {
  const byId = new Map(stored.map(({ id }, place) => [id as string, place]))
  const taken = new Set<number>()
  const places: (number | undefined)[] = []
  for (const [nth, { id, message, joins }] of read.entries()) {
    yield
    const others = message.kind === 'turn' ? (message.otherIds ?? []) : []
    // A turn that has grown may have the id of its last row, and was stored under that of its first.
    const known = [id, ...others].find((some) => byId.has(some))
    let place = known === undefined ? undefined : byId.get(known)
    const isAtEdge = nth === 0 || nth === read.length - 1
    if (place === undefined && isAtEdge && joins !== undefined && message.kind === 'turn') {
      place = yield* findHolder(stored, message)
    }
    const isFree =
      place !== undefined &&
      !taken.has(place) &&
      (stored[place]?.message.kind === 'turn') === (message.kind === 'turn')
    places.push(isFree ? place : undefined)
    if (isFree && place !== undefined) taken.add(place)
  }
  return places
}

/** The first turn that contains these rows already: a page that is read again may begin in the middle of it. */
function* findHolder(
  stored: readonly StoredMessage[],
  piece: OldTurn,
): PausableWork<number | undefined> {
  const wanted = yield* findContents(piece)
  if (wanted === undefined) return undefined
  for (const [place, { message }] of stored.entries()) {
    yield
    if (message.kind === 'turn' && (yield* holds(message, wanted))) return place
  }
  return undefined
}

/** By what the calls and the texts of a piece are recognised; undefined: it has a step without either. */
function* findContents(piece: OldTurn): PausableWork<ReadonlySet<string> | undefined> {
  const wanted = new Set<string>()
  for (const step of piece.steps) {
    yield
    const calls = step.parts.filter((part) => part.type === 'call')
    const text = textOfStep(step)
    if (calls.length === 0 && (text === '' || step.at === undefined)) return undefined
    for (const call of calls) wanted.add(toSought(call))
    if (text !== '') wanted.add(toContent('text', step.at, text))
  }
  return wanted.size === 0 ? undefined : wanted
}

function* holds(turn: OldTurn, wanted: ReadonlySet<string>): PausableWork<boolean> {
  const found = new Set<string>()
  const addIfWanted = (content: string) => wanted.has(content) && found.add(content)
  for (const step of turn.steps) {
    yield
    for (const part of step.parts) {
      if (part.type !== 'call') continue
      const { id, name, createdAt, endedAt } = part
      addIfWanted(toContent('result', id, endedAt))
      addIfWanted(toContent('call', id, name))
      addIfWanted(toContent('call', id, name, createdAt))
    }
    addIfWanted(toContent('text', step.at, textOfStep(step)))
  }
  return found.size === wanted.size
}

/** Same tool and same time; or only the result, whose call is unknown. */
function toSought({ id, name, createdAt, endedAt }: OldCall): string {
  if (name === unnamed) return toContent('result', id, endedAt)
  return createdAt === undefined
    ? toContent('call', id, name)
    : toContent('call', id, name, createdAt)
}

const toContent = (
  kind: 'call' | 'result' | 'text',
  ...marks: readonly (string | number | undefined)[]
): string => JSON.stringify([kind, ...marks])

/** Finds for each new message the stored one that it belongs before. */
function createGaps(
  stored: readonly StoredMessage[],
  read: readonly NamedMessage[],
  places: readonly (number | undefined)[],
  isNewestFirst: boolean,
) {
  const isApart = places.every((place) => place === undefined)
  const dateOf = (place: number) => stored[place]?.message.at
  let from = 0
  /** The next of those read that is stored, and not before `from`: both only ever go on. */
  let next = 0
  return {
    /** Must be called in the order of the messages that were read. */
    find(nth: number): { readonly place: number; readonly isGuess: boolean } {
      const before = nth === 0 ? undefined : places[nth - 1]
      if (before !== undefined) from = Math.max(from, before + 1)
      next = Math.max(next, nth + 1)
      while (next < places.length && (places[next] ?? -1) < from) next++
      const to = places[next] ?? stored.length
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

const isLeft = (call: OldCall): boolean =>
  !hasEnded(call) ||
  (typeof call.outcome === 'object' &&
    ['interrupted', 'unknown', 'stopped'].includes(call.outcome.state))

interface CallPlace {
  readonly entry: number
  readonly step: number
  readonly part: number
}

/** Applies each result to the last call of its id that was left without one, in the last turn that has such a call. */
function* settleOrphans(
  entries: MergedMessage[],
  orphans: readonly Orphan[],
  isChangeable: (entry: number) => boolean,
  report: Report,
): PausableWork<void> {
  if (orphans.length === 0) return
  const left = yield* findLeft(entries)
  /** The turns that are changed, as copies whose parts change in place: one copy for each result would take minutes. */
  const changed = new Map<number, OldPart[][]>()
  for (const { index, callId, end } of orphans) {
    yield
    const places = left.get(callId)
    const place = places?.at(-1)
    if (places === undefined || place === undefined) {
      report.fail(index, noCall)
      continue
    }
    const entry = entries[place.entry] as MergedMessage
    if (!isChangeable(place.entry)) {
      entries[place.entry] = { ...entry, index, fate: 'left' }
      continue
    }
    entries[place.entry] = { ...entry, index, fate: 'changed' }
    const parts =
      changed.get(place.entry) ?? (entry.message as OldTurn).steps.map((step) => [...step.parts])
    changed.set(place.entry, parts)
    const own = parts[place.step] as OldPart[]
    const call = end(own[place.part] as OldCall)
    own[place.part] = call
    if (!isLeft(call)) places.pop()
  }
  for (const [place, parts] of changed) {
    yield
    const entry = entries[place] as MergedMessage
    const { ending: _, ...turn } = entry.message as OldTurn
    const steps = turn.steps.map((step, nth) => ({ ...step, parts: parts[nth] ?? [] }))
    entries[place] = { ...entry, message: { ...turn, steps } }
  }
}

/** The places of the calls that were left without a result, by id, the last one last. */
function* findLeft(
  entries: readonly MergedMessage[],
): PausableWork<ReadonlyMap<string, CallPlace[]>> {
  const left = new Map<string, CallPlace[]>()
  for (const [entry, { message }] of entries.entries()) {
    if (message.kind !== 'turn') continue
    for (const [step, { parts }] of message.steps.entries()) {
      yield
      for (const [part, call] of parts.entries()) {
        if (call.type !== 'call' || call.id === undefined || !isLeft(call)) continue
        const places = left.get(call.id)
        if (places === undefined) left.set(call.id, [{ entry, step, part }])
        else places.push({ entry, step, part })
      }
    }
  }
  return left
}

/** A page may end in the middle of a turn: the pieces on both sides of its edge are one turn. */
function* joinEdges(
  messages: readonly MergedMessage[],
  fixed: ReadonlySet<MessageId>,
): PausableWork<readonly MergedMessage[]> {
  const joined: MergedMessage[] = []
  /** Whether the last piece of the last message is new. */
  let endsNew = false
  for (const item of messages) {
    yield
    const last = joined.at(-1)
    const isNew = item.fate === 'added'
    const isEdge =
      last !== undefined &&
      endsNew !== isNew &&
      !fixed.has(last.id) &&
      !fixed.has(item.id) &&
      goesOn(last, item, isNew ? item.joins : last.joins) &&
      !areTooManyParts(last.message, item.message)
    if (isEdge) {
      const first = yield* indexTurn(last.message as OldTurn)
      const message = yield* joinTurns(first, item.message as OldTurn)
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
