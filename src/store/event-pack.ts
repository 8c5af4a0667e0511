import type { CallOutput } from '../core/call.ts'
import type { LedgerEvent, NewEvent } from '../core/event.ts'
import type { CallId, MessageId, Seq } from '../core/ids.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { type EventPlace, parseEvent } from '../core/parse-event.ts'
import { withDefined } from '../core/with-defined.ts'
import { readStoredJson, readOutput, type StoredOutput } from './stored-output.ts'

/**
 * A row of `events`: facts of one append that stand side by side and are about one turn, or about
 * none. They are written together and read together, so they are one row, with one line of JSON for
 * each; a line that is damaged costs that fact and no other (LG7).
 */
export interface EventPack {
  /** Of its last fact: whoever reads on from a seq finds the pack that this seq is in the middle of. */
  readonly seq: Seq
  readonly size: number
  readonly turnId: MessageId | null
  /** Of its first fact. A line says its own time only where that is another. */
  readonly at: number
  readonly payload: string
}

/** A pack that is not stored yet: its first fact is `offset` places into the append. */
export interface PlannedPack extends Omit<EventPack, 'seq'> {
  readonly offset: number
}

/** One fact of a pack, as it is stored; without `fact` if its line is not JSON. */
export interface PackedEvent extends EventPlace {
  readonly line: string
  readonly fact: Json | undefined
}

export interface PackBuilder {
  add(event: NewEvent, turnId: MessageId | null, offset: number): void
  packs(): readonly PlannedPack[]
}

/** Takes the facts of an append in their order, without those that have another home. */
export function createPackBuilder(): PackBuilder {
  const packs: { -readonly [Key in keyof PlannedPack]: PlannedPack[Key] }[] = []
  return {
    add(event, turnId, offset) {
      const last = packs.at(-1)
      if (last === undefined || last.turnId !== turnId || last.offset + last.size !== offset) {
        const { at } = event
        packs.push({ offset, size: 1, turnId, at, payload: toLine(event, at) })
      } else {
        last.payload += `\n${toLine(event, last.at)}`
        last.size++
      }
    },
    packs: () => packs,
  }
}

/**
 * The JSON text of an event, without what the row says. A final output is left out too: its one place
 * is the call's own row, from where `readPack` puts it back. So a result cannot exist twice, and a
 * lazy read never touches it. JSON writes line breaks as \n, so a line is a line.
 */
function toLine(event: NewEvent, at: number): string {
  // Left out by JSON, and cheaper than copying the rest: this runs for every piece of text.
  const line = { ...event, at: event.at === at ? undefined : event.at, turnId: undefined }
  if (event.type === 'call-settled' && event.outcome.state === 'succeeded') {
    return JSON.stringify({ ...line, outcome: { state: 'succeeded' } })
  }
  if (event.type === 'call-resolved') return JSON.stringify({ ...line, output: undefined })
  return JSON.stringify(line)
}

/** Its facts one by one, each with its own place. A line that is missing is an empty one. */
export function unpack({ seq, turnId, at, payload, ...row }: EventPack): readonly PackedEvent[] {
  // No thread has more facts than its last number; a size that is damaged must not fill the memory.
  const size = Math.min(row.size, seq)
  const lines = size === 1 ? [payload] : payload.split('\n')
  return Array.from({ length: size }, (_, index) => {
    const line = lines[index] ?? ''
    const fact = readStoredJson(line)
    const ownTime = isJsonObject(fact) && typeof fact.at === 'number' ? fact.at : at
    return { seq: seq - size + 1 + index, at: ownTime, turnId, line, fact }
  })
}

/** The output columns of a call, for those facts that say that it has a result. */
export type OutputOf = (callId: CallId) => StoredOutput | undefined

export const readPack = (pack: EventPack, outputOf: OutputOf): readonly LedgerEvent[] =>
  unpack(pack).map(({ fact, seq, at, turnId }) => readFact({ seq, at, turnId }, fact, outputOf))

export const readFact = (
  place: EventPlace,
  fact: Json | undefined,
  outputOf: OutputOf,
): LedgerEvent => parseEvent(place, withOutput(fact, outputOf))

function withOutput(fact: Json | undefined, outputOf: OutputOf): unknown {
  if (!isJsonObject(fact)) return fact
  if (fact.type === 'call-resolved') {
    const isDone = isJsonObject(fact.resolution) && fact.resolution.kind === 'done'
    return isDone ? { ...fact, output: outputsOf(fact, outputOf).output } : fact
  }
  if (fact.type !== 'call-settled' || !isJsonObject(fact.outcome)) return fact
  if (fact.outcome.state !== 'succeeded') return fact
  return { ...fact, outcome: { state: 'succeeded', ...outputsOf(fact, outputOf) } }
}

function outputsOf(
  { callId }: JsonObject,
  outputOf: OutputOf,
): { readonly output?: CallOutput; readonly modelOutput?: Json } {
  const stored = typeof callId === 'string' ? outputOf(callId as CallId) : undefined
  if (stored === undefined) return {}
  const modelOutput = stored.modelOutput === null ? undefined : readStoredJson(stored.modelOutput)
  return withDefined({}, { output: readOutput(stored), modelOutput })
}
