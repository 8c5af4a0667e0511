import {
  type Call,
  type CallOrigin,
  type CallOutcome,
  type Decision,
  isOpenCall,
} from '../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldInSteps } from '../core/fold-turn.ts'
import type { CallId, MessageId } from '../core/ids.ts'
import {
  callsOf,
  isTurn,
  type Message,
  type Part,
  type Step,
  type Turn,
  type TurnEnding,
} from '../core/message.ts'
import { isJsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import { withDefined } from '../core/with-defined.ts'
import { lazyKey } from '../views/lazy-output.ts'
import { toPartialMetadata } from '../views/result-value.ts'
import type {
  OldCall,
  OldMessage,
  OldPart,
  OldSteering,
  OldStep,
  OldText,
  OldTurn,
  ReadDecision,
  ReportMend,
} from './old-message.ts'

/** The name of people in old data, which has no names. */
const importer = 'import'

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

/**
 * A stored message in the form that the readers of old data return. For an imported message it is the inverse
 * of `toTurnEvents`: written again, it is the same turn.
 */
export function toOldMessage(message: Message): OldMessage {
  const { id, createdAt: at, metadata } = message
  if (isTurn(message)) return toOldTurn(message)
  const { role, parts } = message
  return withDefined({ kind: 'user', id, at, role, parts } as const, { metadata })
}

function toOldTurn(turn: Turn): OldTurn {
  const { id, createdAt: at, metadata, choices, feedback, steps, progress } = turn
  return withDefined({ kind: 'turn', id, at, steps: steps.map(toOldStep) } as const, {
    metadata,
    choices,
    feedback,
    ending: progress.status === 'ended' ? progress.ending : undefined,
  })
}

function toOldStep(step: Step): OldStep {
  const isBroken = step.status === 'ended' && step.finishReason === 'interrupted'
  return withDefined(
    { parts: step.parts.map(toOldPart), index: step.index, at: step.startedAt },
    {
      flaw:
        step.status === 'abandoned'
          ? ('draft' as const)
          : isBroken
            ? ('broken' as const)
            : undefined,
    },
  )
}

function toOldPart(part: Part): OldPart {
  if (part.type === 'call') return toOldCall(part)
  if (part.type !== 'text' && part.type !== 'reasoning') return part
  const { type, text, block, providerMetadata } = part
  return withDefined({ type, text, block }, { providerMetadata })
}

function toOldCall(call: Call): OldCall {
  const { id: ownId, providerCallId: id, name, input, createdAt, resolution } = call
  const { dynamic, providerExecuted, title, providerMetadata, toolMetadata } = call
  return withDefined(
    {
      type: 'call',
      id,
      ownId,
      name,
      input,
      createdAt,
      outcome: isOpenCall(call) ? 'open' : storedOutcomeOf(call),
    } as const,
    {
      ...{ dynamic, providerExecuted, title, providerMetadata, toolMetadata },
      decision: call.decision === undefined ? undefined : toDecision(call.decision),
      needsApproval: call.approval === 'required' ? (true as const) : undefined,
      wasSkipped: resolution?.kind === 'skip' ? (true as const) : undefined,
      resultProviderMetadata: call.resultProviderMetadata,
      startedAt: call.startedAt,
      endedAt: isOpenCall(call) ? undefined : call.endedAt,
    },
  )
}

function toDecision({ kind, feedback, automatic }: ReadDecision): ReadDecision {
  return withDefined({ kind }, { feedback, automatic })
}

function storedOutcomeOf(call: Exclude<Call, { readonly state: 'streaming' }>): OldCall['outcome'] {
  switch (call.state) {
    case 'succeeded':
      return withDefined({ state: call.state, output: call.output } as const, {
        modelOutput: call.modelOutput,
      })
    case 'failed':
      return { state: call.state, cause: call.cause, error: call.error }
    case 'denied':
      return withDefined({ state: call.state, cause: call.cause } as const, {
        feedback: call.feedback,
        supersededBy: call.supersededBy,
      })
    case 'interrupted':
      return withDefined({ state: call.state, cause: call.cause } as const, {
        supersededBy: call.supersededBy,
      })
    case 'stopped':
    case 'unknown':
      return { state: call.state, cause: call.cause } as CallOutcome
    default:
      return 'open'
  }
}

/**
 * Whether all of it came from an import. A turn of the engine has its model, a turn of the host's own loop is
 * marked as recorded, and a person who decided or resolved has another name.
 */
export function isImported(message: Message): boolean {
  if (!isTurn(message)) return true
  const { recorded, progress, steps } = message
  if (recorded === true || progress.status !== 'ended') return false
  if (steps.some((step) => step.model !== undefined || ('usage' in step && step.usage)))
    return false
  return [...callsOf(message)].every(
    ({ decision, resolution }) =>
      (decision === undefined || decision.by === importer) &&
      (resolution === undefined || resolution.by === importer),
  )
}
