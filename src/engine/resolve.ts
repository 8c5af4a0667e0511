import type { Call } from '../core/call.ts'
import type { NewTurnEvent } from '../core/event.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import type { Engine } from './engine.ts'
import { resumeIfReady } from './resume.ts'

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
  const { threadId, callId, resolution: kind, result, by } = request
  while (true) {
    const thread = await engine.store.readThread(threadId)
    const found = await engine.store.readCall(threadId, callId)
    if (thread === null || found === null) return { kind: 'not-found' }
    const { call, turn } = found
    const isSkipped = call.state === 'unknown' && call.resolution?.kind === 'skip'
    if (call.state !== 'unknown' || isSkipped) return { kind: 'not-unknown', state: call.state }
    const at = engine.clock.now()
    const output = { kind: 'inline', value: result ?? null } as const
    const resolved: NewTurnEvent = withDefined(
      {
        type: 'call-resolved',
        turnId: turn.id,
        at,
        callId,
        resolution: { kind, by, at },
      } as const,
      { output: kind === 'done' ? output : undefined },
    )
    const place = { threadId, turnId: turn.id, expectedSeq: thread.seq }
    const written =
      turn.progress.status === 'ended'
        ? // A late word reopens the turn, in the same commit.
          await engine.begin({
            ...place,
            how: 'resumed',
            events: [{ type: 'turn-resumed', turnId: turn.id, at }, resolved],
          })
        : await engine.append({ threadId, events: [resolved], expectedSeq: thread.seq })
    if (written.kind === 'stale') continue
    if (written.kind !== 'appended') return { kind: 'not-unknown', state: call.state }
    if (turn.progress.status !== 'ended') await resumeIfReady(engine, threadId, turn.id)
    return { kind: 'resolved' }
  }
}
