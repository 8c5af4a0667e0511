import type { Call, Resolution } from '../../core/call.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallId, OwnerId, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import type { Engine } from '../engine.ts'
import { readLatest } from '../threads/read-latest.ts'
import { applyInput } from './apply-input.ts'
import type { TurnPlace } from '../call-scope.ts'
import { fitGiven, toolboxOf } from '../agent/known-tools.ts'
import type { FittedValue } from '../fit-schema.ts'
import { type AnswerReads, createFindTurn } from './answer-reads.ts'
import { toGivenJson } from '../to-json.ts'

/** A resolution of one call whose outcome is unknown. */
export interface ResolveRequest {
  readonly threadId: ThreadId
  readonly callId: CallId
  readonly resolution: 'retry' | 'done' | 'skip'
  /**
   * With `done`: what the call returned, as far as the person knows. Stored as the tool's `outputSchema` returns it.
   */
  readonly result?: Json
  readonly by: string
  readonly ownerId?: OwnerId
}

/** The result of `resolve`. Only `resolved` has changed anything. */
export type ResolveResult =
  | { readonly kind: 'resolved' }
  /** Another person resolved it first; `resolution` is theirs. */
  | {
      readonly kind: 'already-resolved'
      readonly resolution: Resolution
      readonly state: Call['state']
    }
  /** The tool has an `outputSchema`, and the result does not fit it. Nothing was stored. */
  | { readonly kind: 'invalid-result'; readonly message: string }
  /** The outcome is not unknown; or it is, and the thread has gone on since. */
  | { readonly kind: 'not-unknown'; readonly state: Call['state'] }
  | { readonly kind: 'not-found' }

/** Stores a person's resolution of a call whose outcome is unknown (CR3). The first resolution wins. */
export async function resolveCall(
  engine: Engine,
  request: ResolveRequest,
  reads: AnswerReads = {},
): Promise<ResolveResult> {
  const { threadId, callId, ownerId } = request
  // The schema is called once, however often the resolution is planned again because of concurrent writes.
  let fitted: Promise<FittedValue> | undefined
  const find = createFindTurn(engine.store, reads, { threadId, callId, ownerId })
  const answer = await applyInput<ResolveResult>(engine, threadId, find, async (turn, place) => {
    const call = [...callsOf(turn)].find(({ id }) => id === callId)
    if (call === undefined) return { events: [], answer: { kind: 'not-found' } }
    const isSkipped = call.state === 'unknown' && call.resolution?.kind === 'skip'
    const isOpen = call.state === 'unknown' && !isSkipped && (await isLast(engine, threadId, turn))
    if (!isOpen) return { events: [], answer: toRefusal(call) }
    if (request.resolution !== 'done') {
      return { events: [toEvent(engine, turn, request)], answer: { kind: 'resolved' } }
    }
    const result = await (fitted ??= fitResult(engine, place, turn, call, request.result))
    if (result.kind === 'refused') {
      return { events: [], answer: { kind: 'invalid-result', message: result.message } }
    }
    return { events: [toEvent(engine, turn, request, result.value)], answer: { kind: 'resolved' } }
  })
  return answer ?? { kind: 'not-found' }
}

/**
 * A newer message has skipped all unknown outcomes before it, and a turn that was replaced is in no view. Reopening
 * either would start a run beside, or behind, the current end of the thread. A read of its own: the call's read does not
 * tell what follows its turn.
 */
async function isLast(engine: Engine, threadId: ThreadId, turn: Turn): Promise<boolean> {
  return (await readLatest(engine.store, threadId, 'lazy'))?.last?.id === turn.id
}

function toRefusal({ state, resolution }: Call): ResolveResult {
  return resolution === undefined
    ? { kind: 'not-unknown', state }
    : { kind: 'already-resolved', resolution, state }
}

async function fitResult(
  engine: Engine,
  place: TurnPlace,
  turn: Turn,
  call: Call,
  result: Json | undefined,
): Promise<FittedValue> {
  const value = toGivenJson('result', result, engine.options.maxResultChars)
  const schema = (await toolboxOf(engine, place, turn)).find(call.name)?.outputSchema
  return schema === undefined
    ? { kind: 'fits', value }
    : fitGiven(engine, place, call, schema, value)
}

function toEvent(engine: Engine, turn: Turn, request: ResolveRequest, value?: Json): NewTurnEvent {
  const { callId, resolution: kind, by } = request
  const at = engine.clock.now()
  return withDefined(
    { type: 'call-resolved', turnId: turn.id, at, callId, resolution: { kind, by, at } } as const,
    { output: value === undefined ? undefined : ({ kind: 'inline', value } as const) },
  )
}
