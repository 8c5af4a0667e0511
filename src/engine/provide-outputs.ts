import type { CallOutcome } from '../core/call.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import { callsOf } from '../core/message.ts'
import type { ChatOutput } from '../protocol/chat-body.ts'
import type { Engine } from './engine.ts'
import { tellTurn } from './tell-turn.ts'

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
  let settled = 0
  for (const { callId, outcome } of outputs) {
    const find = async () => (await engine.store.readCall(threadId, callId))?.turn ?? null
    const isSettled = await tellTurn(engine, threadId, find, (turn) => {
      const call = [...callsOf(turn)].find(({ id }) => id === callId)
      const isAwaited =
        call?.state === 'ready' &&
        call.providerExecuted !== true &&
        (turn.recorded === true || !engine.toolbox.isExecutable(call.name)) &&
        // One that was accepted is for the host's loop to run.
        call.decision === undefined
      if (!isAwaited) return { events: [], answer: false }
      const at = engine.clock.now()
      const event = { type: 'call-settled', turnId: turn.id, at, callId, outcome } as const
      return { events: [event], answer: true }
    })
    if (isSettled === true) settled++
  }
  return settled
}

/** A result as a client tells it. */
export const toProvidedOutput = ({ callId, outcome }: ChatOutput): ProvidedOutput => ({
  callId,
  outcome:
    outcome.kind === 'result'
      ? { state: 'succeeded', output: { kind: 'inline', value: outcome.value } }
      : { state: 'failed', cause: 'tool-error', error: outcome.error },
})
