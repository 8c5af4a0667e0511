import { assertNever } from '../core/assert-never.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { sameJson } from '../views/same-json.ts'
import { readCommentaryMessage } from './commentary.ts'
import { detectFormat, hasEntity, type LegacyFormat, roleOf } from './old-shapes.ts'
import {
  type ListedValue,
  noCall,
  type OldThread,
  type Orphan,
  type PlacedMessage,
  readEntityRows,
} from './entity-turns.ts'
import { indexTurn, type KnownTurn, mergeTurn } from './merge-turn.ts'
import {
  plainContext,
  readChatCall,
  readToolMessage,
  type ToolAnswer,
  unnamed,
} from './old-call.ts'
import { callListOf, callLists, checkDate, dateOf, idOf, textOf } from './old-fields.ts'
import {
  hasEnded,
  type OldCall,
  type OldMessage,
  type OldPart,
  type OldStep,
  type OldTurn,
  type Report,
  type ReportMend,
} from './old-message.ts'
import { findOrder } from './order.ts'
import { addListedCalls } from './steps.ts'
import {
  readInvocations,
  readToolsUsedMessage,
  readUiMessage,
  readVercelMessage,
} from './sdk-message.ts'
import { readUserMessage } from './message-parts.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'

export interface ListOptions {
  readonly format: LegacyFormat | 'auto'
  /** The date of what happened in a first message without one. */
  readonly at: number
  /** The list is known to be oldest first, whatever its dates are. */
  readonly isOrdered?: boolean
  /** The page of each entry, where the list was given in pages. */
  readonly pages?: readonly number[]
}

/** Reads a list of any format as messages, oldest first. Neighbouring rows are read together. */
export function* readMessages(
  values: readonly Json[],
  { format, at, isOrdered, pages }: ListOptions,
  report: Report,
  /** The indexes of entries that have failed already. */
  failed: ReadonlySet<number> = new Set(),
): PausableWork<OldThread> {
  const repeats = yield* findRepeats(values)
  for (const index of repeats) report.mend(index, 'It stands there twice: it was left out.')
  yield
  const kept = [...values.keys()].filter((index) => !repeats.has(index) && !failed.has(index))
  yield
  const places = isOrdered === true ? kept : yield* putInOrder(kept, values, pages, report)
  yield
  const listed = places.map((index) => ({ index, value: values[index] as Json }))
  const isReversed = (places[0] ?? 0) > (places.at(-1) ?? 0)
  const isNewestFirst = isReversed || (pages !== undefined && places.length < 2)
  if (format === 'entities') {
    return { ...(yield* readEntityRows(listed, at, true, report)), isNewestFirst }
  }
  const placed: PlacedMessage[] = []
  const orphans: Orphan[] = []
  /** Results came last, so the next message of the model belongs to the same turn. */
  let continuesTurn = false
  /** The last of `placed`, once something was added to it. */
  let open: OpenTurn | undefined
  const openLast = (): OpenTurn | undefined => {
    const message = placed.at(-1)?.message
    if (message?.kind === 'turn') open ??= openTurn(message)
    return open
  }
  /** How many of `placed`, from the first on, have something to join: never searched twice. */
  let joining = 0
  const areAllJoining = (): boolean => {
    while (placed[joining]?.joins !== undefined) joining++
    return joining === placed.length
  }
  let rows: ListedValue[] = []
  /** The last date so far. */
  let before = at
  const readRows = function* (): PausableWork<void> {
    const read = yield* readEntityRows(rows, before, placed.length === 0, report)
    if (read.messages.length > 0) open = undefined
    for (const message of read.messages) placed.push(message)
    for (const orphan of read.orphans) orphans.push(orphan)
    rows = []
  }
  for (const item of listed) {
    yield
    const { index, value } = item
    if (format === 'auto' && isRow(value)) {
      rows.push(item)
      continuesTurn = false
      continue
    }
    yield* readRows()
    before = (isJsonObject(value) ? dateOf(value) : undefined) ?? before
    const mend = (what: string) => report.mend(index, what)
    if (isJsonObject(value) && roleOf(value) === 'tool') {
      for (const answer of readToolMessage(value, mend)) {
        yield
        const { callId } = answer
        const last = placed.at(-1)
        if (openLast()?.addAnswer(answer) === true) {
          placed[placed.length - 1] = {
            ...(last as PlacedMessage),
            message: (open as OpenTurn).turn(),
          }
          continuesTurn = true
        } else if (callId === undefined) report.fail(index, noCall)
        // At the edge of a page: the call is on the page before.
        else if (areAllJoining()) {
          report.guess(
            index,
            'Its call is not here: its result is kept as that of an unknown tool.',
          )
          open ??= openTurn({ kind: 'turn', steps: [] })
          open.addUnknownCall({ ...answer, callId })
          const place = Math.max(0, placed.length - 1)
          placed[place] = { index: last?.index ?? index, message: open.turn(), joins: 'by-shape' }
          continuesTurn = true
        } else {
          const { end } = answer
          orphans.push({ index, callId, end: (call) => ({ ...call, ...end }) })
        }
      }
      continue
    }
    const message = yield* readMessage(value, format, before, mend)
    const last = placed.at(-1)
    if (typeof message === 'string') report.fail(index, message)
    else if (continuesTurn && message.kind === 'turn' && last?.message.kind === 'turn') {
      open ??= openTurn(last.message)
      open.continueWith(message)
      placed[placed.length - 1] = { ...last, message: open.turn() }
    } else {
      placed.push({ index, message })
      open = undefined
    }
    continuesTurn = false
  }
  yield* readRows()
  return { messages: yield* mergePages(placed, pages), orphans, isNewestFirst }
}

function* putInOrder(
  kept: readonly number[],
  values: readonly Json[],
  pages: readonly number[] | undefined,
  report: Report,
): PausableWork<readonly number[]> {
  const found = yield* findOrder(
    kept.map((index) => values[index] as Json),
    pages === undefined ? undefined : kept.map((index) => pages[index] ?? 0),
  )
  const places = found.places.map((place) => kept[place] as number)
  const [first = 0] = kept
  const isGiven = found.basis === 'given'
  if (found.isGuess) {
    const order = isGiven ? 'as it is given, oldest first' : `another than the given one`
    report.guess(first, `The order is ${order}: ${reasonsToGuess[found.basis]}.`)
  } else if (!isGiven) {
    const word = found.basis === 'dates' ? 'dates' : 'ids'
    report.mend(first, `It is not given oldest first: it was put in order by its ${word}.`)
  }
  return places
}

const reasonsToGuess = {
  given: 'dates and ids do not settle it',
  dates: 'the dates do not settle all of it',
  ids: 'the ids do not settle all of it',
  shape: 'neither dates nor ids settle it, but what follows on what',
} as const

/** A page that was read later may have more of a turn that is on both pages. */
function* mergePages(
  placed: readonly PlacedMessage[],
  pages: readonly number[] | undefined,
): PausableWork<readonly PlacedMessage[]> {
  if (pages === undefined) return placed
  /** The place of each turn, and what is known of it once another page had it too. */
  const turns = new Map<string, { readonly at: number; known?: KnownTurn }>()
  const merged: PlacedMessage[] = []
  for (const item of placed) {
    yield
    const { message, index } = item
    const found = message.id === undefined ? undefined : turns.get(message.id)
    const first = found === undefined ? undefined : merged[found.at]
    const isElsewhere = first !== undefined && pages[first.index] !== pages[index]
    if (
      found !== undefined &&
      message.kind === 'turn' &&
      isElsewhere &&
      first.message.kind === 'turn'
    ) {
      found.known ??= yield* indexTurn(first.message)
      const more = yield* mergeTurn(found.known, message)
      if (more === undefined) continue
      merged[found.at] = { ...first, message: more }
      delete found.known
      continue
    }
    if (message.kind === 'turn' && message.id !== undefined)
      turns.set(message.id, { at: merged.length })
    merged.push(item)
  }
  return merged
}

const isRow = (value: Json): boolean => isJsonObject(value) && hasEntity(value)

function* readMessage(
  value: Json,
  format: Exclude<LegacyFormat, 'entities'> | 'auto',
  /** Its date, or that of what stands before it. */
  at: number,
  mend: ReportMend,
): PausableWork<OldMessage | string> {
  if (!isJsonObject(value)) return 'It is not an object.'
  checkDate(value, mend)
  const role = roleOf(value)
  if (role === 'user' || role === 'system') return readUserMessage(value, role, mend)
  if (role !== 'assistant') {
    return `Its role ${JSON.stringify((textOf(value, 'role') ?? '').slice(0, 80))} is not known.`
  }
  const own = format === 'auto' ? detectFormat(value) : format
  const turn = yield* readTurnMessage(value, own, at, mend)
  return yield* addCallsBeside(turn, value, own, at, mend)
}

function readTurnMessage(
  message: JsonObject,
  format: LegacyFormat,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  switch (format) {
    case 'ui':
      return readUiMessage(message, at, mend)
    case 'tools-used':
      return readToolsUsedMessage(message, at, mend)
    case 'commentary':
      return readCommentaryMessage(message, at, mend)
    // A message with a role is not a row, whatever format the caller passed.
    case 'entities':
    case 'vercel':
      return readVercelMessage(message, at, mend)
    default:
      return assertNever(format)
  }
}

/** An app that changed its format has calls in lists that the reader of the other format ignores. */
function* addCallsBeside(
  turn: OldTurn,
  message: JsonObject,
  format: LegacyFormat,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  let { steps } = turn
  if (format !== 'vercel') {
    steps = addListedCalls(steps, yield* readInvocations(message, plainContext(at, mend)))
  }
  if (format !== 'commentary') {
    const listed = callListOf(message, callLists, mend)
    const calls = yield* mapInSteps(listed, (call) => readChatCall(call, at, mend))
    steps = addListedCalls(steps, calls)
  }
  return { ...turn, steps }
}

/** The indexes of entries that repeat an earlier entry exactly: some apps stored messages twice. */
function* findRepeats(values: readonly Json[]): PausableWork<ReadonlySet<number>> {
  const first = new Map<string, Json>()
  const repeats = new Set<number>()
  for (const [index, value] of values.entries()) {
    yield
    const id = isJsonObject(value) ? idOf(value, 'id', 'message_id', 'messageId') : undefined
    if (id === undefined) continue
    const known = first.get(id)
    if (known === undefined) first.set(id, value)
    else if (sameJson(known, value)) repeats.add(index)
  }
  return repeats
}

type OpenStep = Omit<OldStep, 'parts'> & { readonly parts: OldPart[] }

interface CallPosition {
  readonly step: OpenStep
  readonly part: number
}

/**
 * A turn to which the messages after it still add: results, and further messages of the model. Its lists are its own and
 * grow in place, and its open calls are found by their ids: with a copy and a search for each of 20,000 results, reading
 * them took minutes (OP7).
 */
interface OpenTurn {
  /** The turn so far. Its lists grow with what is added later. */
  turn(): OldTurn
  /** Adds a result to the last open call of its id; false if there is none. */
  addAnswer(answer: ToolAnswer): boolean
  /** Adds a result whose call is not in the data, as that of an unknown tool. */
  addUnknownCall(answer: ToolAnswer & { readonly callId: string }): void
  /** Adds a message of the model that goes on after results. As with rows, the turn gets the id of its final message. */
  continueWith(next: OldTurn): void
}

export function openTurn(first: OldTurn): OpenTurn {
  let head: Omit<OldTurn, 'steps'> = first
  const steps: OpenStep[] = []
  const otherIds: string[] = [...(first.otherIds ?? [])]
  /** Positions of calls that have not ended, the last one last. */
  const open = new Map<string | undefined, CallPosition[]>()
  const addStep = (added: OldStep): void => {
    const step = { ...added, parts: [...added.parts] }
    steps.push(step)
    for (const [part, call] of step.parts.entries()) {
      if (call.type !== 'call' || hasEnded(call)) continue
      const position = { step, part }
      const known = open.get(call.id)
      if (known === undefined) open.set(call.id, [position])
      else known.push(position)
    }
  }
  for (const step of first.steps) addStep(step)
  return {
    turn: () => ({ ...head, steps }),
    addAnswer({ callId, end }) {
      const positions = open.get(callId)
      const position = positions?.at(-1)
      if (positions === undefined || position === undefined) return false
      const { step, part } = position
      const call: OldCall = { ...(step.parts[part] as OldCall), ...end }
      step.parts[part] = call
      if (hasEnded(call)) positions.pop()
      return true
    },
    addUnknownCall({ callId, end }) {
      const input = { kind: 'complete', value: {} } as const
      addStep({ parts: [{ type: 'call', id: callId, name: unnamed, input, ...end }] })
      head = { kind: 'turn' }
    },
    continueWith({ steps: added, ...next }) {
      for (const step of added) addStep(withDefined({ ...step }, { at: step.at ?? next.at }))
      if (head.id !== undefined) otherIds.push(head.id)
      const id = next.id ?? head.id
      head = withDefined({ ...head, ...next, otherIds }, { id, at: head.at ?? next.at })
    },
  }
}
