import type { Call } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { FileId } from '../../core/file.ts'
import type { Seq, ThreadId } from '../../core/ids.ts'
import type { Part } from '../../core/message.ts'
import { filesInPart } from '../../core/named-files.ts'
import { type PlannedCallRow, planCopiedCalls } from '../../store/plan-calls.ts'
import type { ThreadToCreate } from '../../store/plan-commit.ts'
import type { WholePortion } from '../../store/whole-thread.ts'
import { createPacer, type Pacer } from '../../store/pacer.ts'
import type { Engine } from '../engine.ts'
import { charsOfJson } from '../run/turn-size.ts'

/** A thread that is created with all its content. */
export interface ThreadCopy {
  readonly id: ThreadId
  readonly create: ThreadToCreate
  /** Generated while they are written: generating all of them at once would block the process. */
  readonly events: Iterable<NewEvent>
}

/** The limits of one write: a larger one would block the event loop, and the database, for too long (OP7). */
const mostChars = 262_144
const mostEvents = 100

/**
 * Creates the thread: all of it, or nothing if the process dies. In one commit, or, where the store can, in many
 * writes that are invisible before the last. False: a thread with this id exists.
 */
export async function writeCopy(engine: Engine, copy: ThreadCopy): Promise<boolean> {
  const { id: threadId, create } = copy
  const { store } = engine
  if (store.createWhole !== undefined) {
    const portions = toPortions(copy.events, createPacer())
    return (await store.createWhole({ threadId, create, portions })) === 'created'
  }
  const events = [...copy.events]
  const { kind } = await engine.append({ threadId, events, expectedSeq: 0, create })
  return kind === 'appended'
}

/**
 * The events of a new thread in portions that may be written at once. The calls of a turn that is larger than that are
 * portions of their own, before the turn: a single value is the least that can be written.
 */
async function* toPortions(events: Iterable<NewEvent>, pace: Pacer): AsyncGenerator<WholePortion> {
  let portion: NewEvent[] = []
  let chars = 0
  let seq: Seq = 0
  for (const event of events) {
    seq++
    const size = await charsOfEvent(event, pace)
    const isFull = chars + size > mostChars || portion.length >= mostEvents
    if (portion.length > 0 && isFull) {
      yield { kind: 'events', events: portion }
      portion = []
      chars = 0
    }
    if (event.type === 'turn-copied' && size > mostChars) {
      yield* toCallPortions(event, seq, pace)
      yield { kind: 'events', events: [withoutValues(event)], hasCalls: true }
      continue
    }
    portion.push(event)
    chars += size
  }
  if (portion.length > 0) yield { kind: 'events', events: portion }
}

type CopiedTurn = Extract<NewEvent, { readonly type: 'turn-copied' }>

/** Measured part by part: a turn may be tens of megabytes. */
async function charsOfEvent(event: NewEvent, pace: Pacer): Promise<number> {
  if (event.type !== 'turn-copied') return charsOfJson(event)
  let chars = 0
  for (const { parts } of event.turn.steps) {
    for (const part of parts) {
      chars += charsOfJson(part)
      await pace()
    }
  }
  return chars
}

async function* toCallPortions(
  event: CopiedTurn,
  seq: Seq,
  pace: Pacer,
): AsyncGenerator<WholePortion> {
  let calls: PlannedCallRow[] = []
  let files = new Set<FileId>()
  let chars = 0
  for (const { call, row } of planCopiedCalls(event, seq)) {
    const { input, output, modelOutput } = row
    const size = [input, output, modelOutput].reduce((sum, text) => sum + (text?.length ?? 0), 0)
    if (calls.length > 0 && (chars + size > mostChars || calls.length >= mostEvents)) {
      yield { kind: 'calls', calls, files: [...files] }
      calls = []
      files = new Set()
      chars = 0
    }
    calls.push(row)
    for (const id of filesInPart(call)) files.add(id)
    chars += size
    await pace()
  }
  if (calls.length > 0) yield { kind: 'calls', calls, files: [...files] }
}

/** The turn without the values that the rows of its calls have: its snapshot has none of them either. */
const withoutValues = (event: CopiedTurn): CopiedTurn => ({
  ...event,
  turn: {
    ...event.turn,
    steps: event.turn.steps.map((step) => ({ ...step, parts: step.parts.map(withoutValue) })),
  },
})

const withoutValue = (part: Part): Part => (part.type === 'call' ? emptyCall(part) : part)

function emptyCall(call: Call): Call {
  const input = call.input.kind === 'complete' ? noInput : call.input
  if (call.state !== 'succeeded') return { ...call, input }
  const { modelOutput: _, ...rest } = call
  return { ...rest, input, output: { kind: 'omitted', bytes: 0 } }
}

const noInput = { kind: 'complete', value: null } as const
