import type { TurnEvent } from '../core/event.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { type CallLife, isCallEvent, lifeOf } from '../core/life.ts'
import { callsOf, type Turn } from '../core/message.ts'
import type { AppendPlan, PlannedCall } from './plan-append.ts'

/**
 * Calls on their way from the model to their result need no row of their own yet: nobody but the run
 * asks for them, and all that is known of them is in the facts of their turn. Most get their row once,
 * with their result, and not first without it. A store may do this in a turn that is running under a
 * lease; when the turn waits or ends, and whenever somebody else writes about a call, it has its row.
 */
export const isOnItsWay = (life: CallLife): boolean =>
  life === 'streaming' || life === 'ready' || life === 'running'

/** A call without a row, and what its row will say. */
export interface RowlessCall {
  readonly life: CallLife
  readonly name: string
  readonly input: string | null
  /** Of the first fact about it. */
  readonly seq: Seq
}
export type RowlessCalls = ReadonlyMap<CallId, RowlessCall>

/**
 * What the last append of a run of this process left: enough to write the next one without reading,
 * as long as the thread still stands at `seq` under the same fence.
 */
export interface RunMemory {
  readonly turnId: MessageId
  readonly fence: number
  readonly seq: Seq
  /** Of calls that have a row. Those that are not here may have one all the same. */
  readonly lives: Map<CallId, CallLife>
  readonly rowless: Map<CallId, RowlessCall>
  /** False: there may be more calls without a row, of a process before this one. */
  readonly isWhole: boolean
}

/** Null: it has none. */
export type CallOutputs = Pick<PlannedCall, 'output' | 'modelOutput'>

export type CallWrite =
  | {
      readonly kind: 'insert'
      readonly id: CallId
      readonly row: RowlessCall
      readonly call: CallOutputs
    }
  | {
      readonly kind: 'update'
      readonly id: CallId
      readonly call: PlannedCall
      readonly from: CallLife
      readonly to: CallLife
    }

export interface CallSteps {
  readonly writes: readonly CallWrite[]
  /** Those that are heard of for the first time, and get no row yet. */
  readonly fresh: readonly CallId[]
  /** Call it once all of this is stored. */
  remember(): void
}

/** What an append does to the rows of calls, by what is remembered. Undefined: it does not fit. */
export function stepCalls(memory: RunMemory, { calls }: AppendPlan): CallSteps | undefined {
  const writes: CallWrite[] = []
  const fresh: CallId[] = []
  const onTheirWay: [CallId, RowlessCall][] = []
  for (const [id, call] of calls) {
    const rowless = memory.rowless.get(id)
    const from = memory.lives.get(id)
    const to = call.paths.get(rowless?.life ?? from ?? 'absent')
    const isKnown = memory.isWhole || rowless !== undefined || from !== undefined
    if (to === undefined || !isKnown || call.turnId !== memory.turnId) return undefined
    if (from !== undefined) {
      writes.push({ kind: 'update', id, call, from, to })
      continue
    }
    const row = toRow(call, to, rowless, memory.seq)
    if (!isOnItsWay(to)) writes.push({ kind: 'insert', id, row, call })
    else {
      onTheirWay.push([id, row])
      if (rowless === undefined) fresh.push(id)
    }
  }
  const remember = () => {
    for (const [id, row] of onTheirWay) memory.rowless.set(id, row)
    for (const write of writes) {
      memory.rowless.delete(write.id)
      memory.lives.set(write.id, write.kind === 'insert' ? write.row.life : write.to)
    }
  }
  return { writes, fresh, remember }
}

/** The row of a call after an append, where it had none before. */
export const toRow = (
  { name, input, offset }: PlannedCall,
  life: CallLife,
  known: RowlessCall | undefined,
  before: Seq,
): RowlessCall => ({
  life,
  name: name ?? known?.name ?? '',
  input: input ?? known?.input ?? null,
  seq: known?.seq ?? before + offset + 1,
})

/** The same from the turn itself, for whoever has no memory of its run. */
export function findRowless(
  turn: Turn,
  events: readonly TurnEvent[],
  hasRow: (id: CallId) => boolean,
): RowlessCalls {
  const first = new Map<CallId, Seq>()
  for (const event of events) {
    if (event.type === 'unreadable' || !isCallEvent(event) || first.has(event.callId)) continue
    first.set(event.callId, event.seq)
  }
  const found = new Map<CallId, RowlessCall>()
  for (const call of callsOf(turn)) {
    const life = lifeOf(call)
    if (!isOnItsWay(life) || hasRow(call.id)) continue
    const input = call.input.kind === 'complete' ? JSON.stringify(call.input.value) : null
    found.set(call.id, { life, name: call.name, input, seq: first.get(call.id) ?? turn.lastSeq })
  }
  return found
}
