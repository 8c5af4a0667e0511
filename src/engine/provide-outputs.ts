import type { CallOutcome } from '../core/call.ts'
import type { CallId, MessageId, ThreadId } from '../core/ids.ts'
import type { Engine } from './engine.ts'
import { resumeIfReady } from './resume.ts'

export interface ProvidedOutput {
  readonly callId: CallId
  readonly outcome: Extract<CallOutcome, { readonly state: 'succeeded' | 'failed' }>
}

/**
 * Takes the results of tools that the client runs itself (an AI SDK tool without `execute`). A client
 * sends back every call it knows; only those that wait for it are settled, and only once.
 */
export async function provideOutputs(
  engine: Engine,
  threadId: ThreadId,
  outputs: readonly ProvidedOutput[],
): Promise<number> {
  const touched = new Set<MessageId>()
  let settled = 0
  for (const { callId, outcome } of outputs) {
    const found = await engine.store.readCall(threadId, callId)
    if (found === null || found.call.state !== 'ready') continue
    const { call, turn } = found
    if (engine.toolbox.isExecutable(call.name) || call.providerExecuted === true) continue
    const event = { type: 'call-settled', turnId: turn.id, at: engine.clock.now() } as const
    const result = await engine.append({ threadId, events: [{ ...event, callId, outcome }] })
    if (result.kind !== 'appended') continue
    settled++
    touched.add(turn.id)
  }
  for (const turnId of touched) await resumeIfReady(engine, threadId, turnId)
  return settled
}
