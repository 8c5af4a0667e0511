import type { Json, JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { judgeCall } from './call-outcome.ts'
import { type EntityCallRead, type EntityRowRead, readEntityRow } from './entity-rows.ts'
import { unnamed } from './old-call.ts'
import type { OldCall, OldMessage, OldSteering, OldStep, OldTurn, Report } from './old-message.ts'
import { readUserMessage } from './user-message.ts'
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

/** Joins rows into messages: rows that follow each other form a turn (LE1). */
export function* readEntityRows(
  values: readonly ListedValue[],
  at: number,
  /** Whether these are the first entries of the list. */
  areFirst: boolean,
  report: Report,
): PausableWork<OldThread> {
  const orphans: Orphan[] = []
  const read: EntityRowRead[] = []
  for (const { index, value } of values) {
    yield
    const row = readEntityRow(value, index, (what) => report.mend(index, what))
    if (typeof row === 'string') report.fail(index, row)
    else read.push(row)
  }
  const rows = withTurnIds(read)
  const turnIds = new Set(rows.filter(isOfModel).flatMap(({ turnId }) => turnId ?? []))
  /** A person's message that joined a turn is a row of that turn (IN3). */
  const isSteering = ({ entity, id, turnId = '' }: EntityRowRead) =>
    entity === 'USER' && id !== turnId && turnIds.has(turnId)
  const groups: (EntityRowRead | OpenTurn)[] = []
  const calls = new Map<string, Answered[]>()
  const results = createEarlyResults(rows)
  for (const [place, row] of rows.entries()) {
    yield
    if (!isOfModel(row) && !isSteering(row)) groups.push(row)
    else if (row.entity === 'TOOL') {
      if (!results.keep(row, place, calls))
        answer(row, { calls, groups, orphans, areFirst, at, report })
    } else {
      const last = groups.at(-1)
      const isSame = last !== undefined && 'rows' in last && continues(last, row)
      const turn = isSame ? last : { rows: [], answers: new Map<EntityRowRead, Answered[]>() }
      if (!isSame) groups.push(turn)
      const answered = row.calls.map((call): Answered =>
        withDefined({ call }, { result: results.take(call.id) }),
      )
      turn.rows.push(row)
      turn.answers.set(row, answered)
      for (const some of answered) {
        const { id } = some.call
        if (id !== undefined) calls.set(id, [...(calls.get(id) ?? []), some])
      }
    }
  }
  const messages = yield* mapInSteps(groups, (group): PlacedMessage => {
    if (!('rows' in group)) return { index: group.index, message: toUserMessage(group, report) }
    const [first] = group.rows
    const joins = first?.turnId === undefined ? 'by-shape' : 'by-id'
    return { index: first?.index ?? 0, message: toTurn(group, at, report), joins }
  })
  return { messages, orphans }
}

const isOfModel = ({ entity }: EntityRowRead): boolean => entity !== 'USER' && entity !== 'SYSTEM'

/**
 * The id that the rows of one turn share is the turn's id. Where no two rows share one, and Holdfast did not
 * write them, it is a second id of each row.
 */
function withTurnIds(rows: readonly EntityRowRead[]): readonly EntityRowRead[] {
  const seen = new Set<string>()
  const areShared = rows.some((row) => {
    const { isExact, turnId } = row
    if (turnId === undefined || !isOfModel(row)) return false
    if (isExact || seen.has(turnId)) return true
    seen.add(turnId)
    return false
  })
  return areShared ? rows : rows.map(({ turnId: _, ...row }) => row)
}

/** Results that come before their call, as in a table that was not sorted. */
function createEarlyResults(rows: readonly EntityRowRead[]) {
  const early = new Map<string, EntityRowRead>()
  /** Only within the same turn: a later turn may use the same ids again. */
  const isStillToCome = (id: string, place: number): boolean => {
    for (let next = place + 1; next < rows.length; next++) {
      const { entity, calls } = rows[next] as EntityRowRead
      if (calls.some((call) => call.id === id)) return true
      if (entity === 'USER' || entity === 'AI_MESSAGE') return false
    }
    return false
  }
  return {
    /** False if its call does not follow. */
    keep(
      row: EntityRowRead,
      place: number,
      calls: ReadonlyMap<string, readonly Answered[]>,
    ): boolean {
      const id = row.result?.callId
      if (id === undefined || early.has(id)) return false
      const isOpen = calls.get(id)?.some(({ result }) => result === undefined) === true
      if (isOpen || !isStillToCome(id, place)) return false
      early.set(id, row)
      return true
    },
    take(id: string | undefined): EntityRowRead | undefined {
      const row = id === undefined ? undefined : early.get(id)
      if (id !== undefined) early.delete(id)
      return row
    },
  }
}

/** By the turn's id where there is one; otherwise a final text ends a turn. */
function continues(turn: OpenTurn, row: EntityRowRead): boolean {
  const last = turn.rows.at(-1)
  if (last?.turnId !== undefined || row.turnId !== undefined) return last?.turnId === row.turnId
  return last?.entity !== 'AI_MESSAGE'
}

/** The last call with the id that has no result yet; it may be in an earlier turn. */
function answer(
  row: EntityRowRead,
  {
    calls,
    groups,
    orphans,
    areFirst,
    at,
    report,
  }: {
    readonly calls: ReadonlyMap<string, readonly Answered[]>
    readonly groups: (EntityRowRead | OpenTurn)[]
    readonly orphans: Orphan[]
    readonly areFirst: boolean
    readonly at: number
    readonly report: Report
  },
): void {
  const { callId, name } = row.result ?? {}
  const same = (callId === undefined ? undefined : calls.get(callId)) ?? []
  const open = same.findLast(({ result }) => result === undefined)
  if (open !== undefined) {
    open.result = row
    return
  }
  if (same.length > 0) {
    report.fail(row.index, 'Its call has a result already.')
    return
  }
  const last = groups.at(-1)
  // Before every other entry of the list: the page before contains its call.
  const isAtEdge =
    areFirst && groups.every((group) => 'rows' in group && group.rows.every(isMadeUp))
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
  const call: EntityCallRead = withDefined(
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
  turn.answers.set(turn.rows.at(-1) as EntityRowRead, [{ call, result: row }])
}

export const noCall = 'It is the result of a call that is not there.'

/** A row that was created for a result without its call. */
const isMadeUp = (row: EntityRowRead): boolean => row.result !== undefined

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

function toTurn({ rows, answers }: OpenTurn, at: number, report: Report): OldTurn {
  const [first] = rows
  const own = rows.filter(isOfModel)
  const final = own.findLast((row) => row.entity === 'AI_MESSAGE')
  const steps: OldStep[] = []
  for (const row of rows) {
    if (isOfModel(row)) {
      steps.push(toStep(row, answers.get(row) ?? [], row === own.at(-1), at, report))
      continue
    }
    const { parts = [], ...step } = steps.pop() ?? {}
    steps.push({ ...step, parts: [...parts, toSteering(row, report)] })
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

function toStep(
  row: EntityRowRead,
  answers: readonly Answered[],
  isLast: boolean,
  at: number,
  report: Report,
): OldStep {
  const text = row.text.trim() === '' ? [] : [{ type: 'text', text: row.text } as const]
  // A text that broke off before the turn continued was an attempt, not the answer.
  const broken = row.entity === 'AI_MESSAGE' && !isLast ? 'draft' : 'broken'
  return withDefined(
    { parts: [...text, ...answers.map((some) => toCall(some, row, at, report))] },
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
