import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { callLists, columnOf, dateOf, idOf, listOf, objectOf, partListOf } from './old-fields.ts'
import { entityOf, roleOf } from './old-shapes.ts'
import { mapInSteps, type PausableWork, portionsOf, sortInSteps } from '../core/pausable-work.ts'

/** The order that was found for a list, and on what basis. */
export interface FoundOrder {
  /** The indexes of the list, oldest first. */
  readonly places: readonly number[]
  /** `given`: the order of the list itself. */
  readonly basis: 'given' | 'dates' | 'ids' | 'shape'
  /** Dates and ids do not decide it: another order would fit as well. */
  readonly isGuess: boolean
}

type Kind = 'user' | 'calls' | 'result' | 'answer' | 'other'

interface Item {
  readonly place: number
  readonly page: number
  readonly kind: Kind
  readonly date: number | undefined
  /** Its rank among all by date. */
  nth: number
  /** A number that grows with time, where all ids of the list are of such a kind. */
  readonly rank: bigint | undefined
  readonly calls: readonly string[]
  readonly answers: string | undefined
  /** Of rows that Holdfast wrote: the turn, and the position in it. */
  readonly own: readonly [turn: string, place: number] | undefined
}

/**
 * Lists are oldest first or newest first, whole or in pages, sometimes with one date for a whole turn. The
 * order is the one that fits best to the dates, to ids that grow with time, and to the shape of a
 * conversation: a result follows its call, an answer its question.
 */
export function* findOrder(
  values: readonly Json[],
  pages: readonly number[] = [],
): PausableWork<FoundOrder> {
  const items = yield* toItems(values, pages)
  const given = items.map(({ place }) => place)
  if (items.length < 2) return { places: given, basis: 'given', isGuess: false }
  const first = yield* costOf(items)
  const isDated = items.some(({ date }) => date !== undefined && date !== items[0]?.date)
  const isRanked = items[0]?.rank !== undefined
  const isSettled = isDated || isRanked
  // Most lists are in order, and no order can be better than one without a fault.
  if (isSettled && first.total === 0) return { places: given, basis: 'given', isGuess: false }
  // A list that is given in pages is most often newest first, as list routes answer.
  const isPaged = !isSettled && pages.some((page) => page > 0)
  let best = { items, cost: first, basis: 'given' as FoundOrder['basis'] }
  let rivals = 0
  for (const [basis, order] of candidatesOf(items, isDated, isRanked)) {
    yield
    const candidate = yield* order()
    yield
    if (isSameOrder(candidate, best.items)) continue
    const cost = yield* costOf(candidate)
    if (cost.total === best.cost.total) rivals++
    const isLikelier = isPaged && best.basis === 'given' && cost.total === best.cost.total
    if (cost.total >= best.cost.total && !isLikelier) continue
    best = { items: candidate, cost, basis }
    rivals = isLikelier ? 1 : 0
  }
  const isGuess = isSettled ? best.cost.against > 0 : rivals > 0 || best.basis !== 'given'
  return { places: best.items.map(({ place }) => place), basis: best.basis, isGuess }
}

/** An order is computed only when its turn has come. */
type Candidate = readonly [FoundOrder['basis'], () => PausableWork<readonly Item[]>]

function* candidatesOf(
  items: readonly Item[],
  isDated: boolean,
  isRanked: boolean,
): Generator<Candidate> {
  const why = isDated ? 'dates' : isRanked ? 'ids' : 'shape'
  yield [why, at(() => items.toReversed())]
  const inPages = [...Map.groupBy(items, ({ page }) => page).values()]
  if (inPages.length > 1) {
    const byDate = inPages
      .map((page) => ({ page, date: earliest(page) }))
      .toSorted((left, right) => compare(left.date, right.date))
      .map(({ page }) => page)
    yield [why, at(() => inPages.toReversed().flat())]
    yield [why, at(() => inPages.flatMap((page) => page.toReversed()))]
    yield [why, at(() => byDate.flat())]
    yield [why, at(() => byDate.flatMap((page) => page.toReversed()))]
  }
  if (isRanked) yield ['ids', () => sortInSteps(items, byRank)]
  if (!isDated) return
  const dated = withDates(items)
  const reversed = dated.toReversed()
  yield ['dates', () => sortByDate(dated, () => 0)]
  yield ['dates', () => sortByDate(reversed, () => 0)]
  yield ['dates', () => sortByDate(dated, byKind)]
  yield ['dates', () => sortByDate(reversed, byKind)]
  if (isRanked) yield ['dates', () => sortByDate(dated, byRank)]
}

/** An order that is quickly found. */
const at = (order: () => readonly Item[]) =>
  function* (): PausableWork<readonly Item[]> {
    yield
    return order()
  }

function* sortByDate(
  dated: readonly Dated[],
  tie: (left: Item, right: Item) => number,
): PausableWork<readonly Item[]> {
  const sorted = yield* sortInSteps(
    dated,
    (left, right) => left.at - right.at || tie(left.item, right.item),
  )
  return sorted.map(({ item }) => item)
}

/** The costs of an order. A single result before its call is cheap, because the reader of rows handles it. */
const weights = { result: 2, shape: 2, date: 10, skew: 1, beginning: 0.5 } as const

interface Cost {
  readonly total: number
  /** The part of the cost that cannot be right: against the dates, or a result before its call. */
  readonly against: number
}

function* costOf(items: readonly Item[]): PausableWork<Cost> {
  const first = items.find(({ kind }) => kind !== 'other')
  let shape = first === undefined || first.kind === 'user' ? 0 : weights.beginning
  let against = 0
  let rising = 0
  let skewed = 0
  const called = new Map<string, number>()
  const early = new Set<string>()
  const turns = new Map<string, number>()
  let before: Item | undefined
  for (const item of items) {
    yield
    for (const ids of portionsOf(item.calls)) {
      yield
      for (const id of ids) {
        if (early.delete(id)) against += weights.result
        else called.set(id, (called.get(id) ?? 0) + 1)
      }
    }
    // A result without its call by the end of the turn: the call is on another page.
    if (item.kind === 'user' || item.kind === 'answer') early.clear()
    if (item.answers !== undefined) {
      // Some providers restart their ids with every turn, so each call is answered once.
      const open = called.get(item.answers) ?? 0
      if (open > 0) called.set(item.answers, open - 1)
      else early.add(item.answers)
    }
    if (item.own !== undefined) {
      const [turn, place] = item.own
      if ((turns.get(turn) ?? -1) > place) against += weights.result
      turns.set(turn, place)
    }
    if (before !== undefined) {
      if (!isAgainstTime(before, item)) {
        if (isAgainstTime(item, before)) rising++
      } else if (isSkewed(before, item)) skewed++
      else against += weights.date
      if (isUnlikelyAfter(before.kind, item.kind)) shape += weights.shape
    }
    before = item
  }
  // Clocks that differ now and then, not a list in the reverse order.
  against += skewed * (rising > skewed ? weights.skew : weights.date)
  return { total: shape + against, against }
}

function isAgainstTime(before: Item, after: Item): boolean {
  if (before.date !== undefined && after.date !== undefined && before.date !== after.date) {
    return before.date > after.date
  }
  return before.rank !== undefined && after.rank !== undefined && before.rank > after.rank
}

/** Two clocks that differ a little: neighbours in the right order have swapped dates. */
const isSkewed = (before: Item, after: Item): boolean =>
  Math.abs(before.nth - after.nth) === 1 &&
  (before.kind === 'user' || (before.kind === 'calls' && after.kind === 'result')) &&
  !isUnlikelyAfter(before.kind, after.kind)

const odd: Readonly<Record<Kind, readonly Kind[]>> = {
  user: ['result', 'user'],
  calls: ['user'],
  result: ['user'],
  answer: ['result', 'calls', 'answer'],
  other: [],
}
const isUnlikelyAfter = (before: Kind, after: Kind): boolean => odd[before].includes(after)

const kinds: readonly Kind[] = ['user', 'other', 'calls', 'result', 'answer']
const byKind = (left: Item, right: Item): number =>
  kinds.indexOf(left.kind) - kinds.indexOf(right.kind)
const byRank = (left: Item, right: Item): number => compare(left.rank ?? 0n, right.rank ?? 0n)

const compare = <Value extends number | bigint>(left: Value, right: Value): number =>
  left < right ? -1 : left > right ? 1 : 0

const earliest = (page: readonly Item[]): number =>
  page.reduce((least, { date }) => Math.min(least, date ?? least), Number.POSITIVE_INFINITY)

interface Dated {
  readonly item: Item
  readonly at: number
}

/** An entry without a date gets that of the one before it. */
function withDates(items: readonly Item[]): readonly Dated[] {
  let at = items.find(({ date }) => date !== undefined)?.date ?? 0
  return items.map((item) => {
    at = item.date ?? at
    return { item, at }
  })
}

const isSameOrder = (left: readonly Item[], right: readonly Item[]): boolean =>
  left.every((item, index) => item === right[index])

function* toItems(
  values: readonly Json[],
  pages: readonly number[],
): PausableWork<readonly Item[]> {
  const rankOf = yield* findRanks(values)
  const items = yield* mapInSteps(values, (value, place): Item => {
    const at = { place, page: pages[place] ?? 0, nth: place }
    if (!isJsonObject(value)) return { ...plain, ...at, date: undefined, rank: undefined }
    return { ...readShape(value), ...at, date: dateOf(value), rank: rankOf(value) }
  })
  const byDate = yield* sortInSteps(items, (left, right) => (left.date ?? 0) - (right.date ?? 0))
  for (const [nth, item] of byDate.entries()) item.nth = nth
  return items
}

const plain = { kind: 'other', calls: [], answers: undefined, own: undefined } as const

type Shape = Pick<Item, 'kind' | 'calls' | 'answers' | 'own'>

function readShape(value: JsonObject): Shape {
  const entity = entityOf(value)
  const calls = callIdsOf(value)
  if (entity !== undefined) {
    switch (entity) {
      case 'USER':
        return { ...plain, kind: 'user' }
      case 'SYSTEM':
        return plain
      case 'TOOL':
        return { ...plain, kind: 'result', answers: answeredIn(value) }
      default:
        return {
          ...plain,
          kind: entity === 'AI_TOOL' ? 'calls' : 'answer',
          calls,
          own: ownPosition(value),
        }
    }
  }
  switch (roleOf(value)) {
    case 'user':
      return { ...plain, kind: 'user' }
    case 'tool':
      return { ...plain, kind: 'result', answers: answeredIn(value) }
    case 'assistant':
      return { ...plain, kind: hasUnansweredCall(value) ? 'calls' : 'answer', calls }
    default:
      return plain
  }
}

/** A model message has calls without their results, which come after it. */
const hasUnansweredCall = (value: JsonObject): boolean =>
  listOf(value, ...callLists).some((call) => isJsonObject(call) && 'function' in call) ||
  partListOf(value).some((part) => isJsonObject(part) && part.type === 'tool-call')

function callIdsOf(value: JsonObject): readonly string[] {
  const content = columnOf(value, 'content')
  const lists = [value, ...(isJsonObject(content) ? [content] : [])]
  return [...lists.flatMap((from) => listOf(from, ...callLists)), ...partListOf(value)].flatMap(
    (call) => {
      const id = isJsonObject(call)
        ? idOf(call, 'id', 'toolCallId', 'tool_call_id', 'callId', 'call_id')
        : undefined
      return id === undefined ? [] : [id]
    },
  )
}

function answeredIn(value: JsonObject): string | undefined {
  const inside = objectOf(value, 'content') ?? {}
  return (
    idOf(inside, 'toolCallId', 'tool_call_id') ??
    idOf(value, 'toolCallId', 'tool_call_id') ??
    partListOf(value).flatMap((part) =>
      isJsonObject(part) ? (idOf(part, 'toolCallId', 'tool_call_id') ?? []) : [],
    )[0]
  )
}

/** `projectEntityRows` numbers the rows of a turn. */
function ownPosition(row: JsonObject): Item['own'] {
  const turn = idOf(row, 'messageId')
  const id = idOf(row, 'id')
  if (turn === undefined || id?.startsWith(`${turn}:`) !== true) return undefined
  const place = Number(id.slice(turn.length + 1))
  return Number.isSafeInteger(place) ? [turn, place] : undefined
}

const ulid = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const objectId = /^[0-9a-f]{24}$/i

/**
 * Ids that grow with time: numbers, a common prefix with a number, UUIDs of version 7, ULIDs, the ids of
 * MongoDB. They count only if all ids of a list are of one such kind.
 */
function* findRanks(
  values: readonly Json[],
): PausableWork<(value: JsonObject) => bigint | undefined> {
  const nameOf = (value: Json) =>
    isJsonObject(value) ? idOf(value, 'id', 'message_id', 'messageId', '_id') : undefined
  const ids = yield* mapInSteps(values, nameOf)
  const all = (fits: RegExp) => ids.every((id) => id !== undefined && fits.test(id))
  const read = (toRank: (id: string) => bigint) => (value: JsonObject) =>
    toRank(nameOf(value) ?? '')
  if (ids.length === 0) return () => undefined
  if (new Set(ids).size < ids.length) return () => undefined
  yield
  if (all(/^\d{1,18}$/)) return read(BigInt)
  if (all(uuid7)) return read((id) => BigInt(`0x${id.replaceAll('-', '')}`))
  if (all(objectId)) return read((id) => BigInt(`0x${id.slice(0, 8)}${id.slice(18)}`))
  if (all(ulid)) return read(readBase32)
  yield
  const word = /^(\D*)\d{1,18}$/.exec(ids[0] ?? '')?.[1]
  if (word === undefined || !ids.every((id) => isNumbered(id, word))) return () => undefined
  return read((id) => BigInt(id.slice(word.length)))
}

const isNumbered = (id: string | undefined, word: string): boolean =>
  id?.startsWith(word) === true && /^\d{1,18}$/.test(id.slice(word.length))

const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const readBase32 = (id: string): bigint =>
  Array.from(id.toUpperCase()).reduce((sum, digit) => sum * 32n + BigInt(digits.indexOf(digit)), 0n)
