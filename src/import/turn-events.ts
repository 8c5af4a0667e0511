import type { CallOrigin, CallOutcome, Decision } from '../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldInSteps } from '../core/fold-turn.ts'
import type { CallId, MessageId } from '../core/ids.ts'
import type { TurnEnding } from '../core/message.ts'
import { isJsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { withDefined } from '../core/with-defined.ts'
import { lazyKey } from '../views/lazy-output.ts'
import { toPartialMetadata } from '../views/result-value.ts'
import type {
  ReportMend,
  OldCall,
  OldPart,
  OldSteering,
  OldStep,
  OldText,
  OldTurn,
} from './old-message.ts'

/** The name of people in old data, which has no names. */
export const importer = 'import'

export interface TurnEventsOptions {
  readonly turnId: MessageId
  readonly replyTo: MessageId | null
  readonly at: number
  /** Whether a newer message of the user denies the calls that still wait (AP8). */
  readonly isFollowedByUser: boolean
  /** Returns the id of the turn's next call. */
  readonly nextCallId: (old: string | undefined) => CallId
  readonly mend: ReportMend
}

/** The events of an old turn: it has ended, and nothing in it is open. */
export function* toTurnEvents(
  old: OldTurn,
  place: TurnEventsOptions,
): PausableWork<readonly NewTurnEvent[]> {
  const events: NewTurnEvent[] = []
  const add = (body: TurnEventBody, at: number = place.at) => {
    events.push({ ...body, turnId: place.turnId, at })
  }
  add(
    withDefined({ type: 'turn-started', replyTo: place.replyTo } as const, {
      metadata: old.metadata,
      choices: old.choices,
    }),
  )
  let index = -1
  let block = 0
  for (const step of old.steps) {
    index = nextIndex(index, step.index)
    add({ type: 'step-started', step: index }, step.at)
    const calls: (readonly [OldCall, CallId])[] = []
    const joined: OldSteering[] = []
    for (const part of step.parts) {
      if (part.type === 'call') {
        const callId = part.ownId ?? place.nextCallId(part.id)
        addArguments(part, callId, add)
        calls.push([part, callId])
      } else if (part.type === 'steering') {
        joined.push(part)
      } else if (isText(part)) {
        addText(part, String(block++), add)
      } else {
        add({ type: 'item-added', item: part })
      }
      yield
    }
    for (const [call, callId] of calls) {
      addOutcome(call, callId, place, add)
      yield
    }
    add(endOf(step, calls.length > 0), step.at)
    for (const { id: messageId, parts, metadata, at } of joined) {
      yield
      add(withDefined({ type: 'input-joined', messageId, parts } as const, { metadata }), at)
    }
  }
  const numbered = yield* mapInSteps(events, (event, offset) => ({ ...event, seq: offset + 1 }))
  const turn = yield* foldInSteps(emptyTurn(place.turnId, 1, place.at), numbered)
  const endedAt = events.reduce((latest, event) => Math.max(latest, event.at), place.at)
  const ending = planTurnEnd(turn, old.ending ?? deriveEnding(old, place), endedAt)
  const feedback = (old.feedback ?? []).map((each): NewTurnEvent => ({
    ...each,
    type: 'feedback-given',
    turnId: place.turnId,
  }))
  return [...events, ...ending, ...feedback]
}

/** The index of a step in the data, if it is larger than that of the step before. */
const nextIndex = (last: number, given: number | undefined): number =>
  given !== undefined && given > last && given < 1e6 ? given : last + 1

const isText = (part: OldPart): part is OldText => part.type === 'text' || part.type === 'reasoning'

type Add = (body: TurnEventBody, at?: number) => void

function addText({ type: kind, text, providerMetadata, ...part }: OldText, name: string, add: Add) {
  const block = part.block ?? name
  add(withDefined({ type: 'text-started', block, kind } as const, { providerMetadata }))
  if (text !== '') add({ type: 'text-appended', block, delta: text })
  add({ type: 'text-ended', block })
}

function addArguments(call: OldCall, id: CallId, add: Add): void {
  const { name, dynamic, providerExecuted, title, providerMetadata, toolMetadata } = call
  const origin: CallOrigin = withDefined(
    { id, providerCallId: call.id ?? id, name },
    { dynamic, providerExecuted, title, providerMetadata, toolMetadata },
  )
  if (call.input.kind === 'complete') {
    const approval = needsDecision(call) ? 'required' : 'not-required'
    const { value: input } = call.input
    add({ type: 'call-recorded', callId: id, call: origin, input, approval }, call.createdAt)
    return
  }
  add({ type: 'call-announced', callId: id, call: origin }, call.createdAt)
  if (call.input.text === '') return
  add({ type: 'call-input-appended', callId: id, delta: call.input.text }, call.createdAt)
}

/** Only a call with complete arguments can have waited, and a rejected one cannot have run. */
const needsDecision = ({ input, decision, outcome, startedAt, needsApproval }: OldCall): boolean =>
  input.kind === 'complete' &&
  (outcome === 'waiting' ||
    needsApproval === true ||
    decision?.kind === 'accepted' ||
    (decision?.kind === 'rejected' && startedAt === undefined))

const isAccepted = ({ decision }: OldCall): boolean => decision?.kind === 'accepted'

function addOutcome(call: OldCall, callId: CallId, place: TurnEventsOptions, add: Add): void {
  const { startedAt, endedAt } = call
  if (call.decision !== undefined && needsDecision(call)) {
    const at =
      (call.decision.kind === 'rejected' ? endedAt : startedAt) ?? call.createdAt ?? place.at
    const decision: Decision = { ...call.decision, by: importer, at, inputHash: '' }
    add({ type: 'call-decided', callId, decision }, at)
    if (decision.kind === 'rejected') return
  }
  const outcome = outcomeOf(call, place)
  if (outcome === undefined) return
  const isReady = call.input.kind === 'complete' && (!needsDecision(call) || isAccepted(call))
  if (startedAt !== undefined && isReady) {
    add({ type: 'call-started', callId }, startedAt)
  }
  const kept = call.partial === undefined ? undefined : toPartialMetadata(call.partial)
  const providerMetadata =
    kept === undefined ? call.resultProviderMetadata : { ...call.resultProviderMetadata, ...kept }
  add(
    withDefined({ type: 'call-settled', callId, outcome } as const, { providerMetadata }),
    endedAt,
  )
  if (outcome.state === 'unknown' && call.wasSkipped === true) {
    const at = endedAt ?? place.at
    add({ type: 'call-resolved', callId, resolution: { kind: 'skip', by: importer, at } }, at)
  }
}

/** `undefined`: the end of the turn closes the call. */
function outcomeOf(
  call: OldCall,
  { isFollowedByUser, mend }: TurnEventsOptions,
): CallOutcome | undefined {
  if (call.outcome === 'waiting' && isFollowedByUser) {
    mend(`The call of ${call.name} was not decided before the next message: it is denied.`)
    return { state: 'denied', cause: 'superseded' }
  }
  if (call.outcome === 'waiting') {
    mend(`Nobody had decided on the call of ${call.name}: it is interrupted.`)
    return { state: 'interrupted', cause: 'superseded', supersededBy: 'import' }
  }
  if (call.outcome === 'open') {
    mend(`The call of ${call.name} was left open: it is interrupted.`)
    return undefined
  }
  if (isLeftOut(call.outcome)) {
    mend(`The result of ${call.name} was left out when this was exported: only its size is known.`)
  }
  return call.outcome
}

const isLeftOut = (outcome: CallOutcome): boolean =>
  outcome.state === 'succeeded' &&
  outcome.output.kind === 'inline' &&
  isJsonObject(outcome.output.value) &&
  Object.hasOwn(outcome.output.value, lazyKey)

function endOf(step: OldStep, hasCalls: boolean): TurnEventBody {
  if (step.flaw === 'draft') return { type: 'step-abandoned' }
  const finishReason = step.flaw === 'broken' ? 'interrupted' : hasCalls ? 'tool-calls' : 'stop'
  return { type: 'step-ended', finishReason }
}

function deriveEnding(
  { steps, isComplete }: OldTurn,
  { isFollowedByUser }: TurnEventsOptions,
): TurnEnding {
  const last = steps.findLast((step) => step.flaw !== 'draft')
  const hasAnswer =
    last?.parts.every((part) => part.type !== 'call') === true &&
    last.parts.some((part) => part.type === 'text' && part.text.trim() !== '')
  if (isComplete ?? (hasAnswer && last?.flaw === undefined)) return { kind: 'completed' }
  if (last !== undefined && outcomesOf(last).includes('stopped')) return { kind: 'stopped' }
  const outcomes = steps.flatMap(outcomesOf)
  if (hasAnswer || outcomes.includes('open')) return { kind: 'interrupted' }
  // The calls ran and no answer came. If the user has written again, the turn is superseded and cannot be
  // continued.
  if (isFollowedByUser) return { kind: 'superseded' }
  return { kind: outcomes.length === 0 ? 'interrupted' : 'no-answer' }
}

const outcomesOf = ({ parts }: OldStep) =>
  parts.flatMap((part) => {
    if (part.type !== 'call') return []
    return [typeof part.outcome === 'string' ? part.outcome : part.outcome.state]
  })
