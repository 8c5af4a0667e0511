import type { Json, JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { OldCall, OldMessage, OldStep, OldTurn } from './old-message.ts'
import { type EntityCallRead, readEntityRow, type EntityRowRead } from './read-entity-row.ts'
import { readResultValue } from './read-result-value.ts'
import type { Report } from './report.ts'
import { readUserMessage } from './read-user-message.ts'

/** A message, and the place in the list that it began at. */
export interface PlacedMessage {
  readonly index: number
  readonly message: OldMessage
}

interface Answered {
  readonly call: EntityCallRead
  result?: EntityRowRead
}
interface OpenTurn {
  readonly rows: EntityRowRead[]
  readonly answers: Map<EntityRowRead, readonly Answered[]>
}

/** Rows of one message each become messages again: a turn is what stands together (LE1). */
export function readEntityRows(
  values: readonly Json[],
  first: number,
  at: number,
  report: Report,
): readonly PlacedMessage[] {
  const read = values.flatMap((value, offset) => {
    const row = readEntityRow(value, first + offset)
    if (typeof row !== 'string') return [row]
    report.fail(first + offset, row)
    return []
  })
  const rows = inOrder(read, report)
  const groups: (EntityRowRead | OpenTurn)[] = []
  const calls = new Map<string, Answered[]>()
  for (const row of rows) {
    if (row.entity === 'USER' || row.entity === 'SYSTEM') groups.push(row)
    else if (row.entity === 'TOOL') answer(row, calls, groups, report)
    else {
      const last = groups.at(-1)
      const isSame = last !== undefined && 'rows' in last && continues(last, row)
      const turn = isSame ? last : { rows: [], answers: new Map<EntityRowRead, Answered[]>() }
      if (!isSame) groups.push(turn)
      const answered = row.calls.map((call): Answered => ({ call }))
      turn.rows.push(row)
      turn.answers.set(row, answered)
      for (const some of answered) {
        const { id } = some.call
        if (id !== undefined) calls.set(id, [...(calls.get(id) ?? []), some])
      }
    }
  }
  return groups.map((group) =>
    'rows' in group
      ? { index: group.rows[0]?.index ?? first, message: toTurn(group, at) }
      : { index: group.index, message: toUserMessage(group, report) },
  )
}

/** By the turn's id where there is one; else a final text is the end of a turn. */
function continues(turn: OpenTurn, row: EntityRowRead): boolean {
  const last = turn.rows.at(-1)
  if (last?.turnId !== undefined || row.turnId !== undefined) return last?.turnId === row.turnId
  return last?.entity !== 'AI_MESSAGE'
}

/** The last call with the id that has no result yet; it may stand in a turn before. */
function answer(
  row: EntityRowRead,
  calls: ReadonlyMap<string, readonly Answered[]>,
  groups: (EntityRowRead | OpenTurn)[],
  report: Report,
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
  if (name === undefined || last === undefined || !('rows' in last)) {
    report.fail(row.index, 'It is the result of a call that is not there.')
    return
  }
  report.mend(row.index, `The call of ${name} was not kept: it was made from its result.`)
  const call: EntityCallRead = withDefined(
    { type: 'call', name, input: { kind: 'complete', value: {} } } as const,
    { id: callId },
  )
  last.rows.push({ ...row, entity: 'AI_TOOL' })
  last.answers.set(last.rows.at(-1) as EntityRowRead, [{ call, result: row }])
}

function toTurn({ rows, answers }: OpenTurn, at: number): OldTurn {
  const [first] = rows
  const final = rows.findLast((row) => row.entity === 'AI_MESSAGE')
  return withDefined(
    {
      kind: 'turn',
      steps: rows.map((row, index) =>
        toStep(row, answers.get(row) ?? [], index === rows.length - 1, at),
      ),
    } as const,
    { id: first?.turnId ?? final?.id ?? first?.id, at: first?.at },
  )
}

function toStep(
  row: EntityRowRead,
  answers: readonly Answered[],
  isLast: boolean,
  at: number,
): OldStep {
  const text = row.text.trim() === '' ? [] : [{ type: 'text', text: row.text } as const]
  // A text that broke off and after which the turn went on was an attempt, not the answer.
  const broken = row.entity === 'AI_MESSAGE' && !isLast ? 'draft' : 'broken'
  return withDefined(
    { parts: [...text, ...answers.map((some) => toCall(some, row, at))] },
    { at: row.at, flaw: row.isComplete ? undefined : broken },
  )
}

function toCall(
  { call: { validated, ...call }, result }: Answered,
  row: EntityRowRead,
  at: number,
): OldCall {
  const base = withDefined(call, { createdAt: row.at, endedAt: result?.at })
  if (result?.result === undefined) {
    if (validated === 'rejected') return { ...base, ...readResultValue(null, { validated }, at) }
    if (validated === 'pending') return { ...base, outcome: 'waiting' }
    return withDefined({ ...base, outcome: 'open' } as const, {
      decision: validated === 'accepted' ? ({ kind: 'accepted' } as const) : undefined,
    })
  }
  const marks = withDefined({ isComplete: result.isComplete }, { validated })
  return { ...base, ...readResultValue(result.result.value, marks, result.at ?? at) }
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

/** Lists are often given newest first. One that begins with a user and ends with an answer is not. */
function inOrder(rows: readonly EntityRowRead[], report: Report): readonly EntityRowRead[] {
  const dates = rows.map((row) => row.at)
  const isFalling = dates.every(
    (date, index) => date !== undefined && (index === 0 || date <= (dates[index - 1] ?? date)),
  )
  const [first] = rows
  const last = rows.at(-1)
  if (first === undefined || last === undefined || !isFalling || first.at === last.at) return rows
  if (first.entity === 'USER' && last.entity !== 'USER') return rows
  report.mend(first.index, 'The rows are given newest first: they were turned round.')
  return rows.toReversed()
}
