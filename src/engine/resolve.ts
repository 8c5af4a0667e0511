import type { Call } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { callsOf, type Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine } from './engine.ts'
import { readLatest } from './read-latest.ts'
import { applyInput } from './apply-input.ts'
import { toGivenJson } from './to-json.ts'

export interface ResolveRequest {
  readonly threadId: ThreadId
  readonly callId: CallId
  readonly resolution: 'retry' | 'done' | 'skip'
  /** With `done`: what the call returned, as far as the person knows. */
  readonly result?: Json
  readonly by: string
}

export type ResolveResult =
  | { readonly kind: 'resolved' }
  | { readonly kind: 'not-unknown'; readonly state: Call['state'] }
  | { readonly kind: 'not-found' }

/** A person says what became of a call whose end nobody saw (CR3). The first one to say so wins. */
export async function resolveCall(engine: Engine, request: ResolveRequest): Promise<ResolveResult> {
  const { threadId, callId } = request
  const { store } = engine
  const find = () => store.readCall(threadId, callId)
  const answer = await applyInput<ResolveResult>(engine, threadId, find, async (turn) => {
    const call = [...callsOf(turn)].find(({ id }) => id === callId)
    if (call === undefined) return { events: [], answer: { kind: 'not-found' } }
    const isSkipped = call.state === 'unknown' && call.resolution?.kind === 'skip'
    const isOpen = call.state === 'unknown' && !isSkipped && (await isLast(engine, threadId, turn))
    if (!isOpen) return { events: [], answer: { kind: 'not-unknown', state: call.state } }
    return { events: [toEvent(engine, turn, request)], answer: { kind: 'resolved' } }
  })
  return answer ?? { kind: 'not-found' }
}

/**
 * A newer message has skipped whatever was unknown before it, and a turn that was replaced is in no
 * view. To open either again would put a run beside, or behind, what the thread has come to.
 */
async function isLast(engine: Engine, threadId: ThreadId, turn: Turn): Promise<boolean> {
  return (await readLatest(engine.store, threadId, 'lazy'))?.last?.id === turn.id
}

function toEvent(engine: Engine, turn: Turn, request: ResolveRequest): NewTurnEvent {
  const { callId, resolution: kind, result, by } = request
  const at = engine.clock.now()
  const output = { kind: 'inline', value: toGivenJson('result', result) } as const
  return withDefined(
    { type: 'call-resolved', turnId: turn.id, at, callId, resolution: { kind, by, at } } as const,
    { output: kind === 'done' ? output : undefined },
  )
}
