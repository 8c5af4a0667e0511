import { type Call, type CallOutcome, type EndedCall, isOpenCall } from '../../core/call.ts'
import { cutErrorText } from '../../core/error-text.ts'
import type { NewTurnEvent } from '../../core/event.ts'
import type { CallId, ThreadId } from '../../core/ids.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import type { ChatOutput } from '../../protocol/chat-body.ts'
import { toClientJson } from '../../views/client-json.ts'
import { lazyKey } from '../../views/lazy-output.ts'
import { sameJson } from '../../views/same-json.ts'
import { errorTextOf } from '../../views/call-error-text.ts'
import type { Engine } from '../engine.ts'
import { type PlannedAnswer, applyInput } from './apply-input.ts'
import { type AnswerReads, createFindTurn } from './answer-reads.ts'
import type { TurnPlace } from '../call-scope.ts'
import type { FittedValue } from '../fit-schema.ts'
import { fitGiven, ranBy, toolboxOf } from '../agent/known-tools.ts'
import { toGivenJson } from '../to-json.ts'
import { charsOfOutcome, tooMuchForTurn, usedBy } from '../run/turn-size.ts'

/** The result of a call that the client runs, in the form in which it is stored. */
export interface ToolOutput {
  readonly callId: CallId
  readonly outcome: Extract<CallOutcome, { readonly state: 'succeeded' | 'failed' }>
}

/** The outcome for a result that a client sent. Only `added` has changed anything. */
export type ToolOutputResult =
  | { readonly kind: 'added' }
  /** Nothing new: clients send back every result that they have, those of the server's own tools too. */
  | { readonly kind: 'repeated' }
  /** The call had ended otherwise: stopped, superseded, or with another result (CL2). */
  | { readonly kind: 'too-late'; readonly state: Call['state'] }
  /** The call is open, but not the client's to end: it waits for a person, or the server runs it. */
  | { readonly kind: 'not-waiting'; readonly state: Call['state'] }
  /** The tool has an `outputSchema`, and the result does not fit it. The call still waits. */
  | { readonly kind: 'invalid-result'; readonly message: string }
  | { readonly kind: 'not-found' }

/**
 * Stores the results of tools that the client runs itself (an AI SDK tool without `execute`), each once and only while
 * its call waits for it. Returns one result for each, in order. A client sends back every result that it has: those of
 * one turn are one read and at most one commit, however many there are.
 */
export async function addToolOutputs(
  engine: Engine,
  threadId: ThreadId,
  outputs: readonly ToolOutput[],
  reads: AnswerReads = {},
): Promise<readonly ToolOutputResult[]> {
  const given = outputs.map(({ callId, outcome }) => ({
    callId,
    outcome: toStorable(outcome, engine.options.maxResultChars),
  }))
  const results = given.map((): ToolOutputResult | undefined => undefined)
  // Each schema is called once, however often the results are planned again because of concurrent writes.
  const fitted = given.map((): Promise<FittedValue> | undefined => undefined)
  for (const [index, { callId }] of given.entries()) {
    if (results[index] !== undefined) continue
    const find = createFindTurn(engine.store, reads, { threadId, callId })
    const added = await applyInput(engine, threadId, find, async (turn, place) =>
      addTo(engine, turn, given, await ranBy(engine, place, turn), (call, value, at) => {
        fitted[at] ??= fitOutput(engine, place, turn, call, value)
        return fitted[at]
      }),
    )
    if (added === null) results[index] = { kind: 'not-found' }
    for (const [at, result] of added ?? []) results[at] ??= result
  }
  return results.map((result) => result ?? { kind: 'not-found' })
}

/** The results for those outputs that belong to calls of this turn. */
async function addTo(
  engine: Engine,
  turn: Turn,
  outputs: readonly ToolOutput[],
  isServers: (call: Call) => boolean,
  fit: (call: Call, value: Json, index: number) => Promise<FittedValue>,
): Promise<PlannedAnswer<ReadonlyMap<number, ToolOutputResult>>> {
  const calls = new Map([...callsOf(turn)].map((call) => [call.id, call]))
  const settled = new Set<CallId>()
  const { maxTurnChars } = engine.options
  const before = usedBy(turn).chars
  let added = 0
  const events: NewTurnEvent[] = []
  const answer = new Map<number, ToolOutputResult>()
  for (const [index, { callId, outcome }] of outputs.entries()) {
    const call = calls.get(callId)
    if (call === undefined) continue
    const result = settled.has(callId)
      ? ({ kind: 'repeated' } as const)
      : judgeOutput(call, outcome, isServers(call))
    answer.set(index, result)
    if (result.kind !== 'added' && result.kind !== 'too-late') continue
    const checked = await checkOutcome(outcome, (value) => fit(call, value, index))
    if (result.kind === 'too-late') {
      // The client has the value that it sent; stored is what the schema returned for it.
      const isKnown = !isOpenCall(call) && !('kind' in checked) && isRepeated(call, checked)
      if (isKnown) answer.set(index, { kind: 'repeated' })
      continue
    }
    if ('kind' in checked) {
      answer.set(index, { kind: 'invalid-result', message: checked.message })
      continue
    }
    const chars = charsOfOutcome(checked)
    // An error has none, and ends its call in a turn that is over the limit already, too.
    if (chars > 0 && before + added + chars > maxTurnChars) {
      answer.set(index, { kind: 'invalid-result', message: tooMuchForTurn(maxTurnChars) })
      continue
    }
    added += chars
    settled.add(callId)
    const at = engine.clock.now()
    events.push({ type: 'call-settled', turnId: turn.id, at, callId, outcome: checked })
  }
  return { events, answer }
}

/** The outcome with the value that the schema returns: that is stored, and sent to the model. */
async function checkOutcome(
  outcome: ToolOutput['outcome'],
  fit: (value: Json) => Promise<FittedValue>,
): Promise<ToolOutput['outcome'] | Extract<FittedValue, { readonly kind: 'refused' }>> {
  if (outcome.state === 'failed' || outcome.output.kind !== 'inline') return outcome
  const fitted = await fit(outcome.output.value)
  if (fitted.kind === 'refused') return fitted
  return { ...outcome, output: { kind: 'inline', value: fitted.value } }
}

async function fitOutput(
  engine: Engine,
  place: TurnPlace,
  turn: Turn,
  call: Call,
  value: Json,
): Promise<FittedValue> {
  // The tools of a recorded turn belong to the host application, and so do their results.
  if (turn.recorded === true) return { kind: 'fits', value }
  const schema = (await toolboxOf(engine, place, turn)).find(call.name)?.outputSchema
  return schema === undefined
    ? { kind: 'fits', value }
    : fitGiven(engine, place, call, schema, value)
}

function judgeOutput(
  call: Call,
  outcome: ToolOutput['outcome'],
  isServers: boolean,
): ToolOutputResult {
  const { state } = call
  const isOurs = call.providerExecuted === true || isServers
  if (isOpenCall(call)) {
    return isOurs || state !== 'ready' ? { kind: 'not-waiting', state } : { kind: 'added' }
  }
  return isOurs || isRepeated(call, outcome) ? { kind: 'repeated' } : { kind: 'too-late', state }
}

/** Converts a result from the format of the client. */
export const toToolOutput = ({ callId, outcome }: ChatOutput): ToolOutput => ({
  callId,
  outcome:
    outcome.kind === 'result'
      ? { state: 'succeeded', output: { kind: 'inline', value: outcome.value } }
      : { state: 'failed', cause: 'tool-error', error: outcome.error },
})

function toStorable(outcome: ToolOutput['outcome'], maxChars: number): ToolOutput['outcome'] {
  // A page has the errors of all calls (OP7a).
  if (outcome.state === 'failed') return { ...outcome, error: cutErrorText(outcome.error) }
  if (outcome.output.kind !== 'inline') return outcome
  return {
    ...outcome,
    output: { kind: 'inline', value: toGivenJson('output', outcome.output.value, maxChars) },
  }
}

/** Whether pages and streams already show this result for the call. */
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
