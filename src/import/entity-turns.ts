import type { Json, JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { judgeCall } from './call-outcome.ts'
import { type EntityCallRead, type EntityRowRead, readEntityRow } from './entity-rows.ts'
import { unnamed } from './old-call.ts'
import type {
  OldCall,
  OldMessage,
  OldPart,
  OldSteering,
  OldStep,
  OldTurn,
  Report,
} from './old-message.ts'
import { readUserMessage } from './message-parts.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'

/** An entry of a list, and its index. */
export interface ListedValue {
  readonly index: number
  readonly value: Json
}

/** A message, and the index in the list at which it began. */
export interface PlacedMessage {
  readonly index: number
  readonly message: OldMessage
  /**
   * How a turn may continue at the edge of a page: `by-id` where its rows have the turn's id, `by-shape`
   * where only a question or an answer ends one. Absent: it is complete by itself.
   */
  readonly joins?: 'by-id' | 'by-shape'
}

/** A result whose call is not in the list. The call may be stored already. */
export interface Orphan {
  readonly index: number
  readonly callId: string
  /** Applies the result to its call. */
  readonly end: (call: OldCall) => OldCall
}

export interface OldThread {
  readonly messages: readonly PlacedMessage[]
  readonly orphans: readonly Orphan[]
  /** The list was newest first, as list routes answer: the next page is older. */
  readonly isNewestFirst?: boolean
}

interface Answered {
  readonly call: EntityCallRead
  result?: EntityRowRead
}
interface OpenTurn {
  readonly rows: EntityRowRead[]
  readonly answers: Map<EntityRowRead, readonly Answered[]>
}

/** What was read so far. */
interface Reading {
  readonly groups: (EntityRowRead | OpenTurn)[]
  readonly orphans: Orphan[]
  /** The calls of each id without a result, the last one last. An id of calls that all have one has none left here. */
  readonly open: Map<string, Answered[]>
  /** Whether nothing but results without their calls was read: their calls are on the page before. */
  isAtEdge: boolean
}

/** Joins rows into messages: rows that follow each other form a turn (LE1). */
export function* readEntityRows(
  values: readonly ListedValue[],
  at: number,
  /** Whether these are the first entries of the list. */
  areFirst: boolean,
  report: Report,
): PausableWork<OldThread> {
  const read: EntityRowRead[] = []
  for (const { index, value } of values) {
    yield
    const row = yield* readEntityRow(value, index, (what) => report.mend(index, what))
    if (typeof row === 'string') report.fail(index, row)
    else read.push(row)
  }
  const rows = yield* withTurnIds(read)
  const turnIds = new Set(rows.filter(isOfModel).flatMap(({ turnId }) => turnId ?? []))
  /** A person's message that joined a turn is a row of that turn (IN3). */
  const isSteering = ({ entity, id, turnId = '' }: EntityRowRead) =>
    entity === 'USER' && id !== turnId && turnIds.has(turnId)
  const reading: Reading = { groups: [], orphans: [], open: new Map(), isAtEdge: areFirst }
  const { groups, open } = reading
  const results = yield* createEarlyResults(rows)
  for (const [place, row] of rows.entries()) {
    yield
    if (row.entity === 'TOOL') {
      if (!results.keep(row, place, open)) answer(row, reading, at, report)
      continue
    }
    reading.isAtEdge = false
    if (!isOfModel(row) && !isSteering(row)) {
      groups.push(row)
      continue
    }
    const last = groups.at(-1)
    const isSame = last !== undefined && 'rows' in last && continues(last, row)
    const turn = isSame ? last : { rows: [], answers: new Map<EntityRowRead, Answered[]>() }
    if (!isSame) groups.push(turn)
    const answered = yield* mapInSteps(row.calls, (call): Answered =>
      withDefined({ call }, { result: results.remove(call.id) }),
    )
    turn.rows.push(row)
    turn.answers.set(row, answered)
    for (const some of answered) {
      const { id } = some.call
      if (id === undefined) continue
      const same = open.get(id) ?? []
      open.set(id, same)
      if (some.result === undefined) same.push(some)
    }
  }
  const messages: PlacedMessage[] = []
  for (const group of groups) {
    yield
    if (!('rows' in group)) {
      messages.push({ index: group.index, message: toUserMessage(group, report) })
      continue
    }
    const [first] = group.rows
    const joins = first?.turnId === undefined ? 'by-shape' : 'by-id'
    const message = yield* toTurn(group, at, report)
    messages.push({ index: first?.index ?? 0, message, joins })
  }
  return { messages, orphans: reading.orphans }
}

const isOfModel = ({ entity }: EntityRowRead): boolean => entity !== 'USER' && entity !== 'SYSTEM'

/**
 * The id that the rows of one turn share is the turn's id. Where no two rows share one, and Holdfast did not
 * write them, it is a second id of each row.
 */
function* withTurnIds(rows: readonly EntityRowRead[]): PausableWork<readonly EntityRowRead[]> {
  const seen = new Set<string>()
  const areShared = rows.some((row) => {
    const { isExact, turnId } = row
    if (turnId === undefined || !isOfModel(row)) return false
    if (isExact || seen.has(turnId)) return true
    seen.add(turnId)
    return false
  })
  return areShared ? rows : yield* mapInSteps(rows, ({ turnId: _, ...row }) => row)
}

/** Results that come before their call, as in a table that was not sorted. */
function* createEarlyResults(rows: readonly EntityRowRead[]): PausableWork<EarlyResults> {
  const early = new Map<string, EntityRowRead>()
  /** The rows with a call of each id, the first one last, so that each is passed over once. */
  const calling = new Map<string, number[]>()
  /** For each row the next one at which a turn ends. */
  const ends: number[] = []
  let end = rows.length
  for (let place = rows.length - 1; place >= 0; place--) {
    yield
    ends[place] = end
    const { entity, calls } = rows[place] as EntityRowRead
    if (entity === 'USER' || entity === 'AI_MESSAGE') end = place
    for (const { id } of calls) {
      if (id === undefined) continue
      const places = calling.get(id)
      if (places === undefined) calling.set(id, [place])
      else if (places.at(-1) !== place) places.push(place)
    }
  }
  /** Only within the same turn: a later turn may use the same ids again. */
  const isStillToCome = (id: string, place: number): boolean => {
    const places = calling.get(id) ?? []
    while ((places.at(-1) ?? rows.length) <= place) places.pop()
    return (places.at(-1) ?? rows.length) < (ends[place] ?? 0)
  }
  return {
    keep(row, place, open) {
      const id = row.result?.callId
      if (id === undefined || early.has(id)) return false
      const isOpen = (open.get(id)?.length ?? 0) > 0
      if (isOpen || !isStillToCome(id, place)) return false
      early.set(id, row)
      return true
    },
    remove(id) {
      const row = id === undefined ? undefined : early.get(id)
      if (id !== undefined) early.delete(id)
      return row
    },
  }
}

interface EarlyResults {
  /** Must be called in the order of the rows. False if its call does not follow. */
  keep(row: EntityRowRead, place: number, open: Reading['open']): boolean
  remove(id: string | undefined): EntityRowRead | undefined
}

/** By the turn's id where there is one; otherwise a final text ends a turn. */
function continues(turn: OpenTurn, row: EntityRowRead): boolean {
  const last = turn.rows.at(-1)
  if (last?.turnId !== undefined || row.turnId !== undefined) return last?.turnId === row.turnId
  return last?.entity !== 'AI_MESSAGE'
}

/** The last call with the id that has no result yet; it may be in an earlier turn. */
function answer(row: EntityRowRead, reading: Reading, at: number, report: Report): void {
  const { groups, orphans, open, isAtEdge } = reading
  const { callId, name } = row.result ?? {}
  const same = callId === undefined ? undefined : open.get(callId)
  const call = same?.pop()
  if (call !== undefined) {
    call.result = row
    return
  }
  if (same !== undefined) {
    report.fail(row.index, 'Its call has a result already.')
    return
  }
  const last = groups.at(-1)
  if (callId !== undefined && !isAtEdge && name === undefined) {
    const { result } = row
    const end = (call: OldCall) => settle(call, result, row, at)
    orphans.push({ index: row.index, callId, end })
    return
  }
  if (!isAtEdge && (name === undefined || last === undefined || !('rows' in last))) {
    report.fail(row.index, noCall)
    return
  }
  if (name !== undefined) {
    report.mend(row.index, `The call of ${name} was not kept: it was made from its result.`)
  } else {
    report.guess(row.index, 'Its call is not here: its result is kept as that of an unknown tool.')
  }
  const made: EntityCallRead = withDefined(
    {
      type: 'call',
      name: name ?? unnamed,
      input: { kind: 'complete', value: {} },
      marks: {},
    } as const,
    { id: callId },
  )
  const turn =
    last !== undefined && 'rows' in last
      ? last
      : { rows: [], answers: new Map<EntityRowRead, readonly Answered[]>() }
  if (turn !== last) groups.push(turn)
  turn.rows.push({ ...row, entity: 'AI_TOOL', isComplete: true })
  turn.answers.set(turn.rows.at(-1) as EntityRowRead, [{ call: made, result: row }])
}

export const noCall = 'It is the result of a call that is not there.'

function settle(
  call: OldCall,
  result: EntityRowRead['result'],
  { isComplete, at: endedAt }: EntityRowRead,
  at: number,
): OldCall {
  const validated =
    call.decision?.kind === 'accepted' ? ('accepted' as const) : result?.marks.validated
  const marks = withDefined({ ...result?.marks, isComplete }, { validated })
  const end = judgeCall(call.name, result, marks, endedAt ?? at, () => {})
  return withDefined({ ...call, ...end }, { endedAt })
}

function* toTurn({ rows, answers }: OpenTurn, at: number, report: Report): PausableWork<OldTurn> {
  const [first] = rows
  const own = rows.filter(isOfModel)
  const last = own.at(-1)
  const final = own.findLast((row) => row.entity === 'AI_MESSAGE')
  const steps: OpenStep[] = []
  for (const row of rows) {
    yield
    if (isOfModel(row)) {
      steps.push(yield* toStep(row, answers.get(row) ?? [], row === last, at, report))
      continue
    }
    const before = steps.at(-1)
    if (before === undefined) steps.push({ parts: [toSteering(row, report)] })
    else before.parts.push(toSteering(row, report))
  }
  return withDefined({ kind: 'turn', steps } as const, {
    id: first?.turnId ?? final?.id ?? first?.id,
    otherIds: own.flatMap(({ id }) => id ?? []),
    at: first?.at,
  })
}

function toSteering({ row, id = '', at, index }: EntityRowRead, report: Report): OldSteering {
  const { parts } = readUserMessage(row, 'user', (what) => report.mend(index, what))
  return withDefined({ type: 'steering', id, parts } as const, { at })
}

/** A step whose list grows with what joined the turn behind it: copied for each, thousands would take seconds. */
type OpenStep = Omit<OldStep, 'parts'> & { readonly parts: OldPart[] }

function* toStep(
  row: EntityRowRead,
  answers: readonly Answered[],
  isLast: boolean,
  at: number,
  report: Report,
): PausableWork<OpenStep> {
  const text = row.text.trim() === '' ? [] : [{ type: 'text', text: row.text } as const]
  // A text that broke off before the turn continued was an attempt, not the answer.
  const broken = row.entity === 'AI_MESSAGE' && !isLast ? 'draft' : 'broken'
  const calls = yield* mapInSteps(answers, (some) => toCall(some, row, at, report))
  return withDefined(
    { parts: [...text, ...calls] },
    { at: row.at, flaw: row.isComplete ? undefined : broken },
  )
}

function toCall(
  { call: { marks: own, ...call }, result }: Answered,
  row: EntityRowRead,
  at: number,
  report: Report,
): OldCall {
  const base = withDefined(call, { createdAt: row.at, endedAt: result?.at })
  const given = result?.result
  const mend = (what: string) => report.mend(row.index, what)
  // The result decides whether a call was cut off; the call has its approval.
  const marks =
    result === undefined || given === undefined
      ? withDefined({}, { validated: own.validated })
      : { ...given.marks, ...own, isComplete: result.isComplete && own.isComplete !== false }
  return { ...base, ...judgeCall(call.name, given, marks, result?.at ?? at, mend) }
}

function toUserMessage(
  { row, id, text, entity, index }: EntityRowRead,
  report: Report,
): OldMessage {
  const message: JsonObject = { ...row, content: text }
  const role = entity === 'USER' ? 'user' : 'system'
  const read = readUserMessage(message, role, (what) => report.mend(index, what))
  return withDefined({ ...read }, { id })
}
