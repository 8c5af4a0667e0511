import type { TurnEventBody } from '../../src/core/event.ts'
import { parseCallId } from '../../src/core/ids.ts'
import type { Json } from '../../src/core/json.ts'
import type { UiChunk } from '../../src/views/ui-chunk.ts'
import { createUiChunkCursor, nextChunks } from '../../src/views/ui-chunks.ts'
import type { SdkVersion } from '../../src/views/ui-vocabulary.ts'
import { turnOf } from './turn-of.ts'

export const callId = parseCallId('c1')
export const call = { id: callId, providerCallId: 'call_1', name: 'weather' }
export const begin: TurnEventBody = { type: 'step-started', step: 0 }
export const text: readonly TurnEventBody[] = [
  { type: 'text-started', block: '0', kind: 'text' },
  { type: 'text-appended', block: '0', delta: 'Look' },
  { type: 'text-appended', block: '0', delta: 'ing' },
  { type: 'text-ended', block: '0' },
]
export const announced: TurnEventBody = { type: 'call-announced', callId, call }
export const inputAppended: TurnEventBody = {
  type: 'call-input-appended',
  callId,
  delta: '{"city":"Oslo"}',
}
export const record = (
  approval: 'required' | 'not-required',
  input: Json = { city: 'Oslo' },
): TurnEventBody => ({
  type: 'call-recorded',
  callId,
  call,
  input,
  approval,
})
export const over: TurnEventBody = { type: 'step-ended', finishReason: 'tool-calls' }
export const succeeded: TurnEventBody = {
  type: 'call-settled',
  callId,
  outcome: { state: 'succeeded', output: { kind: 'inline', value: 20 } },
}
export const accepted = (editedInput: Json): TurnEventBody => ({
  type: 'call-decided',
  callId,
  decision: { kind: 'accepted', by: 'ana', at: 1, inputHash: 'h' },
  editedInput,
})
export const paused: TurnEventBody = { type: 'turn-paused', waitingFor: 'approval' }
export const resumed: TurnEventBody = { type: 'turn-resumed' }
export const completed: TurnEventBody = { type: 'turn-ended', ending: { kind: 'completed' } }

/** The chunks of a client that saw the turn after each number of events. */
export function chunksOf(
  events: readonly TurnEventBody[],
  cuts: readonly number[],
  sdk?: SdkVersion,
): readonly UiChunk[] {
  let cursor = createUiChunkCursor(sdk === undefined ? {} : { sdk })
  return cuts.flatMap((cut) => {
    const next = nextChunks(cursor, turnOf(...events.slice(0, cut)))
    cursor = next.cursor
    return next.chunks
  })
}
export const everyCut = (events: readonly TurnEventBody[]) => events.map((_, index) => index + 1)
export const typesOf = (chunks: readonly UiChunk[]) => chunks.map(({ type }) => type)
