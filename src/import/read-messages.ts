import { assertNever } from '../core/assert-never.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { sameJson } from '../views/same-json.ts'
import { readCommentaryMessage } from './commentary.ts'
import { detectFormat, type LegacyFormat } from './detect-format.ts'
import { type ListedValue, type PlacedMessage, readEntityRows } from './entity-turns.ts'
import {
  findOpenCall,
  plainContext,
  readChatCall,
  readToolMessage,
  type ToolAnswer,
} from './old-call.ts'
import { callListOf, callLists, checkDate, dateOf, idOf, textOf } from './old-fields.ts'
import type { Mend, OldMessage, OldTurn } from './old-message.ts'
import { roleOf } from './old-names.ts'
import type { Report } from './report.ts'
import { addListedCalls } from './steps.ts'
import { readToolsUsedMessage } from './tools-used.ts'
import { readUiMessage } from './ui-message.ts'
import { readUserMessage } from './user-message.ts'
import { readInvocations, readVercelMessage } from './vercel-message.ts'

/** A list of any format as messages. Rows that stand together are read together. */
export function readMessages(
  values: readonly Json[],
  format: LegacyFormat | 'auto',
  at: number,
  report: Report,
): readonly PlacedMessage[] {
  const repeats = findRepeats(values)
  for (const index of repeats) report.mend(index, 'It stands there twice: it was left out.')
  const places = [...values.keys()].filter((index) => !repeats.has(index))
  const listed = places.map((index) => ({ index, value: values[index] as Json }))
  if (format === 'entities') return readEntityRows(listed, at, report)
  const placed: PlacedMessage[] = []
  /** Results came last: what the model says next is of the same turn. */
  let goesOn = false
  let rows: ListedValue[] = []
  const readRows = () => {
    for (const message of readEntityRows(rows, at, report)) placed.push(message)
    rows = []
  }
  for (const item of listed) {
    const { index, value } = item
    if (format === 'auto' && isRow(value)) {
      rows.push(item)
      goesOn = false
      continue
    }
    readRows()
    const mend = (what: string) => report.mend(index, what)
    if (isJsonObject(value) && roleOf(value) === 'tool') {
      for (const answer of readToolMessage(value, mend)) {
        if (addAnswer(placed, answer)) goesOn = true
        else report.fail(index, 'It is the result of a call that is not there.')
      }
      continue
    }
    const message = readMessage(value, format, at, mend)
    const last = placed.at(-1)
    if (typeof message === 'string') report.fail(index, message)
    else if (goesOn && message.kind === 'turn' && last?.message.kind === 'turn') {
      placed[placed.length - 1] = { ...last, message: joinTurns(last.message, message) }
    } else placed.push({ index, message })
    goesOn = false
  }
  readRows()
  return placed
}

const isRow = (value: Json): boolean => isJsonObject(value) && detectFormat(value) === 'entities'

/** To the turn that came last; false if it has no such call. */
function addAnswer(placed: PlacedMessage[], answer: ToolAnswer): boolean {
  const last = placed.at(-1)
  if (last?.message.kind !== 'turn') return false
  const { steps } = last.message
  for (const [index, step] of [...steps.entries()].toReversed()) {
    const at = findOpenCall(step.parts, answer.callId)
    const call = step.parts[at]
    if (call === undefined) continue
    const parts = step.parts.with(at, { ...call, ...answer.end })
    const message = { ...last.message, steps: steps.with(index, { ...step, parts }) }
    placed[placed.length - 1] = { ...last, message }
    return true
  }
  return false
}

/** As with rows, the turn has the name of its final message. */
function joinTurns(first: OldTurn, second: OldTurn): OldTurn {
  const steps = second.steps.map((step) => withDefined({ ...step }, { at: step.at ?? second.at }))
  const joined = { ...first, ...second, steps: [...first.steps, ...steps] }
  return withDefined(joined, { id: second.id ?? first.id, at: first.at ?? second.at })
}

function readMessage(
  value: Json,
  format: Exclude<LegacyFormat, 'entities'> | 'auto',
  at: number,
  mend: Mend,
): OldMessage | string {
  if (!isJsonObject(value)) return 'It is not an object.'
  checkDate(value, mend)
  const role = roleOf(value)
  if (role === 'user' || role === 'system') return readUserMessage(value, role, mend)
  if (role !== 'assistant') {
    return `Its role ${JSON.stringify((textOf(value, 'role') ?? '').slice(0, 80))} is not known.`
  }
  const own = format === 'auto' ? detectFormat(value) : format
  const date = dateOf(value) ?? at
  return addCallsBeside(readTurn(value, own, date, mend), value, own, date, mend)
}

function readTurn(message: JsonObject, format: LegacyFormat, at: number, mend: Mend): OldTurn {
  switch (format) {
    case 'ui':
      return readUiMessage(message, at, mend)
    case 'tools-used':
      return readToolsUsedMessage(message, at, mend)
    case 'commentary':
      return readCommentaryMessage(message, at, mend)
    // A message with a role is no row, whatever the caller took the list for.
    case 'entities':
    case 'vercel':
      return readVercelMessage(message, at, mend)
    default:
      return assertNever(format)
  }
}

/** An app that changed its format has calls in lists that the reader of the other one passes over. */
function addCallsBeside(
  turn: OldTurn,
  message: JsonObject,
  format: LegacyFormat,
  at: number,
  mend: Mend,
): OldTurn {
  let { steps } = turn
  if (format !== 'vercel') {
    steps = addListedCalls(steps, readInvocations(message, plainContext(at, mend)))
  }
  if (format !== 'commentary') {
    const calls = callListOf(message, callLists, mend).map((call) => readChatCall(call, at, mend))
    steps = addListedCalls(steps, calls)
  }
  return { ...turn, steps }
}

/** The places of what stands in the list before, to the letter: apps have stored messages twice. */
function findRepeats(values: readonly Json[]): ReadonlySet<number> {
  const first = new Map<string, Json>()
  const repeats = new Set<number>()
  for (const [index, value] of values.entries()) {
    const id = isJsonObject(value) ? idOf(value, 'id', 'message_id', 'messageId') : undefined
    if (id === undefined) continue
    const known = first.get(id)
    if (known === undefined) first.set(id, value)
    else if (sameJson(known, value)) repeats.add(index)
  }
  return repeats
}
