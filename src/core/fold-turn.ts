import { assertNever } from './assert-never.ts'
import { type Call, type CallOutcome, isOpenCall } from './call.ts'
import type { NewTurnEvent, TurnEvent } from './event.ts'
import { type CallEvent, callTransition, isCallEvent, lifeOf } from './life.ts'
import type { Part, Step, TextPart, Turn, TurnEnding } from './message.ts'
import { createTurnDraft, type TurnDraft } from './turn-draft.ts'
import { withDefined } from './with-defined.ts'

/**
 * The one function from stored facts to the state of a turn. Live views, reloads, pages, second tabs
 * and prompts are all made from what it returns, in the server and in the browser (LG4).
 *
 * It takes a run of events, not one, so that a long catch-up copies each container once and stays
 * linear. Events that it has already folded are skipped, so reading twice is harmless; what did not
 * change is shared with the turn before, and if nothing changed the same turn is returned.
 */
export function foldTurn(turn: Turn, events: readonly TurnEvent[]): Turn {
  let draft: TurnDraft | undefined
  for (const event of events) {
    if (event.turnId !== turn.id || event.seq <= (draft?.lastSeq ?? turn.lastSeq)) continue
    draft ??= createTurnDraft(turn)
    draft.lastSeq = event.seq
    applyEvent(draft, event)
  }
  return draft === undefined ? turn : draft.finish()
}

/** A turn before its first fact. Its place in the thread is that of its `turn-started`. */
export function emptyTurn(id: Turn['id'], seq: Turn['seq'], createdAt: number): Turn {
  return {
    role: 'assistant',
    id,
    seq,
    lastSeq: seq - 1,
    replyTo: null,
    createdAt,
    progress: { status: 'running' },
    steps: [],
    unreadable: 0,
  }
}

function applyEvent(draft: TurnDraft, event: TurnEvent): void {
  if (event.type === 'unreadable') {
    draft.unreadable += 1
    return
  }
  if (isCallEvent(event)) {
    applyCallEvent(draft, event)
    return
  }
  switch (event.type) {
    case 'turn-started':
      draft.head = withDefined(
        { ...draft.head, replyTo: event.replyTo, createdAt: event.at },
        { metadata: event.metadata, recorded: event.recorded },
      )
      return
    case 'step-started':
      closeStep(draft, event.at, { status: 'abandoned' })
      draft.pushStep(
        withDefined(
          { index: event.step, status: 'open', parts: [], startedAt: event.at } as const,
          { model: event.model },
        ),
      )
      return
    case 'text-started':
      openStep(draft, event.at)
      draft.pushPart(
        withDefined(
          { type: event.kind, block: event.block, text: '', state: 'streaming' } as const,
          { providerMetadata: event.providerMetadata },
        ),
      )
      return
    case 'text-appended':
      changeText(draft, event, (part) => ({ ...part, text: part.text + event.delta }))
      return
    case 'text-ended':
      changeText(draft, event, (part) => ({ ...part, state: 'done' }))
      return
    case 'item-added':
      openStep(draft, event.at)
      addItem(draft, event.item)
      return
    case 'step-ended':
      closeStep(draft, event.at, event)
      return
    case 'step-abandoned':
      closeStep(draft, event.at, { status: 'abandoned' })
      return
    case 'turn-paused':
      draft.head = {
        ...draft.head,
        progress: { status: 'waiting', waitingFor: event.waitingFor },
      }
      return
    case 'turn-resumed':
      draft.head = { ...draft.head, progress: { status: 'running' } }
      return
    case 'turn-ended':
      endTurn(draft, event.ending, event.at)
      return
    default:
      assertNever(event)
  }
}

function applyCallEvent(draft: TurnDraft, event: CallEvent): void {
  const place = draft.findCall(event.callId)
  if (place === undefined) {
    if (event.type !== 'call-announced' && event.type !== 'call-recorded') return
    const step = openStep(draft, event.at)
    draft.pushPart(newCall(event, step.index))
    return
  }
  const { from, to } = callTransition(event, lifeOf(place.call))
  // Storage refuses these; a damaged ledger may hold them. The first end of a call stands (CL2).
  if (!from.includes(lifeOf(place.call))) return
  draft.replaceCall(place, changeCall(place.call, event, to))
}

function newCall(
  event: Extract<CallEvent, { type: 'call-announced' | 'call-recorded' }>,
  step: number,
): Call {
  const base = { ...event.call, type: 'call', step, createdAt: event.at } as const
  return event.type === 'call-announced'
    ? {
        ...base,
        input: { kind: 'partial', text: '' },
        approval: 'not-required',
        state: 'streaming',
      }
    : {
        ...base,
        input: { kind: 'complete', value: event.input },
        approval: event.approval,
        state: event.approval === 'required' ? 'awaiting-approval' : 'ready',
      }
}

function changeCall(call: Call, event: CallEvent, to: ReturnType<typeof lifeOf>): Call {
  switch (event.type) {
    case 'call-announced':
      return call
    case 'call-input-appended':
      return call.input.kind === 'partial'
        ? { ...call, input: { kind: 'partial', text: call.input.text + event.delta } }
        : call
    case 'call-recorded': {
      // A client cannot retype a part that it has: how the call was first heard of stands.
      const { dynamic, ...origin } = event.call
      return {
        ...withoutState(call),
        ...origin,
        input: { kind: 'complete', value: event.input },
        approval: event.approval,
        state: event.approval === 'required' ? 'awaiting-approval' : 'ready',
      }
    }
    case 'call-revised': {
      const input = event.isPartial
        ? ({ kind: 'partial', text: JSON.stringify(event.input) } as const)
        : ({ kind: 'complete', value: event.input } as const)
      const revised = { ...call, name: event.name, input }
      return to === 'ready' ? { ...withoutState(revised), state: 'ready' } : revised
    }
    case 'call-decided': {
      const decided = {
        ...withoutState(call),
        ...(event.editedInput !== undefined && call.input.kind === 'complete'
          ? {
              input: { kind: 'complete', value: event.editedInput } as const,
              proposedInput: call.input.value,
            }
          : {}),
        decision: event.decision,
      }
      if (event.decision.kind === 'accepted') return { ...decided, state: 'ready' }
      return withDefined(
        { ...decided, state: 'denied', cause: 'denied', endedAt: event.at } as const,
        { feedback: event.decision.feedback },
      )
    }
    case 'call-started':
      return { ...withoutState(call), state: 'running', startedAt: event.at }
    case 'call-progressed':
      return call.state === 'running' ? { ...call, preliminary: event.output } : call
    case 'call-settled':
      return settle(call, event.outcome, event.at, event.providerMetadata)
    case 'call-resolved':
      return resolve(call, event)
    default:
      return assertNever(event)
  }
}

function settle(
  call: Call,
  outcome: CallOutcome,
  at: number,
  providerMetadata?: Call['resultProviderMetadata'],
): Call {
  return withDefined(
    { ...withoutState(call), ...outcome, endedAt: at },
    { resultProviderMetadata: providerMetadata },
  )
}

function resolve(call: Call, event: Extract<CallEvent, { type: 'call-resolved' }>): Call {
  const resolved = { ...withoutState(call), resolution: event.resolution }
  switch (event.resolution.kind) {
    case 'retry':
      return { ...resolved, state: 'ready' }
    case 'done':
      return {
        ...resolved,
        state: 'succeeded',
        output: event.output ?? { kind: 'inline', value: null },
        endedAt: event.at,
      }
    case 'skip':
      return { ...resolved, state: 'unknown', cause: 'crashed', endedAt: event.at }
    default:
      return assertNever(event.resolution.kind)
  }
}

/** What belongs to one state only is left behind when a call moves on. */
function withoutState(call: Call) {
  const { state, cause, error, output, modelOutput, preliminary, feedback, endedAt, ...rest } =
    call as Call & Partial<Record<StateFields, unknown>>
  return rest
}
type StateFields =
  | 'cause'
  | 'error'
  | 'output'
  | 'modelOutput'
  | 'preliminary'
  | 'feedback'
  | 'endedAt'

function changeText(
  draft: TurnDraft,
  event: Extract<NewTurnEvent, { type: 'text-appended' | 'text-ended' }>,
  change: (part: TextPart) => TextPart,
): void {
  draft.changePart(
    (part): part is TextPart =>
      (part.type === 'text' || part.type === 'reasoning') && part.block === event.block,
    (part) => withDefined(change(part), { providerMetadata: event.providerMetadata }),
  )
}

function addItem(draft: TurnDraft, item: Exclude<Part, TextPart | Call>): void {
  const replaced =
    item.type === 'data' &&
    item.id !== undefined &&
    draft.changePart(
      (part): part is typeof item =>
        part.type === 'data' && part.name === item.name && part.id === item.id,
      () => item,
    )
  if (!replaced) draft.pushPart(item)
}

/** Old data and damaged ledgers may lack the start of a step. */
function openStep(draft: TurnDraft, at: number): Step {
  const last = draft.lastStep()
  if (last?.status === 'open') return last
  const step: Step = { index: (last?.index ?? -1) + 1, status: 'open', parts: [], startedAt: at }
  draft.pushStep(step)
  return step
}

function closeStep(
  draft: TurnDraft,
  at: number,
  how: { readonly status: 'abandoned' } | Extract<NewTurnEvent, { type: 'step-ended' }>,
): void {
  const step = draft.lastStep()
  if (step?.status !== 'open') return
  const parts = step.parts.map((part): Part =>
    (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming'
      ? { ...part, state: 'done' }
      : part,
  )
  const base = { ...step, parts, endedAt: at }
  draft.replaceLastStep(
    'finishReason' in how
      ? withDefined({ ...base, status: 'ended', finishReason: how.finishReason } as const, {
          usage: how.usage,
          model: how.model,
          providerMetadata: how.providerMetadata,
        })
      : { ...base, status: 'abandoned' },
  )
}

/** Closes whatever is still open: no spinner survives the end of its turn, whatever was lost. */
function endTurn(draft: TurnDraft, ending: TurnEnding, at: number): void {
  closeStep(draft, at, {
    type: 'step-ended',
    turnId: draft.head.id,
    at,
    finishReason: ending.kind === 'failed' ? 'error' : 'interrupted',
  })
  for (const place of draft.allCalls()) {
    if (!isOpenCall(place.call)) continue
    draft.replaceCall(place, settle(place.call, outcomeAtEnd(ending, place.call), at))
  }
  draft.head = { ...draft.head, progress: { status: 'ended', ending, endedAt: at } }
}

/** What a call becomes that is still open when its turn ends. */
export function outcomeAtEnd(ending: TurnEnding, call: Call): CallOutcome {
  if (ending.kind === 'stopped') return { state: 'stopped', cause: 'stopped' }
  // It had started and nobody saw its end: to say that it did nothing would be a guess.
  if (call.state === 'running') return { state: 'unknown', cause: 'crashed' }
  switch (ending.kind) {
    case 'superseded':
      return { state: 'denied', cause: 'superseded' }
    case 'failed':
      return { state: 'interrupted', cause: 'stream-failed' }
    case 'cut-off':
    case 'step-limit':
      return { state: 'interrupted', cause: 'over-limit' }
    case 'completed':
    case 'no-answer':
    case 'interrupted':
      return { state: 'interrupted', cause: 'crashed' }
    default:
      return assertNever(ending)
  }
}
