import { type Call, type CallOutcome, type EndedCall, isOpenCall } from '../core/call.ts'
import type { CallId, ThreadId } from '../core/ids.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { callsOf } from '../core/message.ts'
import type { ChatOutput } from '../protocol/chat-body.ts'
import { toClientJson } from '../views/client-json.ts'
import { lazyKey } from '../views/lazy-output.ts'
import { sameJson } from '../views/same-json.ts'
import { errorTextOf } from '../views/wording.ts'
import type { Engine } from './engine.ts'
import { tellTurn } from './tell-turn.ts'
import { toGivenJson } from './to-json.ts'

export interface ToolOutput {
  readonly callId: CallId
  readonly outcome: Extract<CallOutcome, { readonly state: 'succeeded' | 'failed' }>
}

/** What became of a result that a client sent. Only `added` has changed anything. */
export type ToolOutputResult =
  | { readonly kind: 'added' }
  /** No news: clients send back every result that they know of, those of the server's own tools too. */
  | { readonly kind: 'repeated' }
  /** The call had ended otherwise: stopped, superseded, or with another result (CL2). */
  | { readonly kind: 'too-late'; readonly state: Call['state'] }
  /** It is open, and not the client's to end: it waits for a person, or the server runs it. */
  | { readonly kind: 'not-waiting'; readonly state: Call['state'] }
  | { readonly kind: 'not-found' }

/**
 * Takes the results of tools that the client runs itself (an AI SDK tool without `execute`), each once and
 * only while its call waits for it. One result for each, in order.
 */
export async function addToolOutputs(
  engine: Engine,
  threadId: ThreadId,
  outputs: readonly ToolOutput[],
): Promise<readonly ToolOutputResult[]> {
  const results: ToolOutputResult[] = []
  for (const { callId, outcome: given } of outputs) {
    const outcome = toStorable(given)
    const find = async () => (await engine.store.readCall(threadId, callId))?.turn ?? null
    const result = await tellTurn<ToolOutputResult>(engine, threadId, find, (turn) => {
      const call = [...callsOf(turn)].find(({ id }) => id === callId)
      if (call === undefined) return { events: [], answer: { kind: 'not-found' } }
      const { state } = call
      // In a recorded turn the host's loop runs the tools: one that was accepted is its to run.
      const isServers =
        turn.recorded === true
          ? call.decision !== undefined
          : engine.toolbox.isExecutable(call.name)
      const isOurs = call.providerExecuted === true || isServers
      if (!isOpenCall(call)) {
        const answer =
          isOurs || isRepeated(call, outcome)
            ? ({ kind: 'repeated' } as const)
            : ({ kind: 'too-late', state } as const)
        return { events: [], answer }
      }
      if (isOurs || state !== 'ready') return { events: [], answer: { kind: 'not-waiting', state } }
      const at = engine.clock.now()
      const event = { type: 'call-settled', turnId: turn.id, at, callId, outcome } as const
      return { events: [event], answer: { kind: 'added' } }
    })
    results.push(result ?? { kind: 'not-found' })
  }
  return results
}

/** A result as a client tells it. */
export const toToolOutput = ({ callId, outcome }: ChatOutput): ToolOutput => ({
  callId,
  outcome:
    outcome.kind === 'result'
      ? { state: 'succeeded', output: { kind: 'inline', value: outcome.value } }
      : { state: 'failed', cause: 'tool-error', error: outcome.error },
})

function toStorable(outcome: ToolOutput['outcome']): ToolOutput['outcome'] {
  if (outcome.state === 'failed' || outcome.output.kind !== 'inline') return outcome
  return {
    ...outcome,
    output: { kind: 'inline', value: toGivenJson('output', outcome.output.value) },
  }
}

/** Whether this is what pages and streams show of the call anyway. */
function isRepeated(call: EndedCall, outcome: ToolOutput['outcome']): boolean {
  if (outcome.state === 'failed') {
    return call.state !== 'succeeded' && outcome.error === errorTextOf(call)
  }
  if (call.state !== 'succeeded' || outcome.output.kind !== 'inline') return false
  const { value } = outcome.output
  if (isLazy(value)) return true
  const { output } = call
  return output.kind === 'inline' && sameJson(toClientJson(output.value), toClientJson(value))
}

const isLazy = (value: Json): boolean => isJsonObject(value) && Object.hasOwn(value, lazyKey)
