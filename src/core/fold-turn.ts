import { assertNever } from './assert-never.ts'
import { type Call, isOpenCall } from './call.ts'
import { changeCall, newCall, outcomeAtEnd, settle } from './change-call.ts'
import { type NewTurnEvent, numberEvents, type TurnEvent } from './event.ts'
import { foldFeedback } from './feedback.ts'
import { type CallEvent, callTransition, isCallEvent, lifecycleOf } from './lifecycle.ts'
import {
  hasEndingNote,
  type ItemPart,
  type Part,
  type Step,
  type TextPart,
  type Turn,
  type TurnEnding,
  type TurnError,
} from './message.ts'
import { type PausableWork, runToEnd } from './pausable-work.ts'
import { createTurnDraft, type TurnDraft } from './turn-draft.ts'
import { addVersion } from './versions.ts'
import { withDefined } from './with-defined.ts'

/**
 * The one function from stored events to the state of a turn. Live views, reloads, pages, second tabs
 * and prompts are all made from what it returns, in the server and in the browser (LG4).
 *
 * It takes a run of events, not one, so that a long catch-up copies each container once and stays
 * linear. Events that it has already folded are skipped, so reading twice is harmless; what did not
 * change is shared with the turn before, and if nothing changed the same turn is returned.
 */
export function foldTurn(turn: Turn, events: readonly TurnEvent[]): Turn {
  return runToEnd(foldInSteps(turn, events))
}

/** The same with pauses: a turn may have thousands of calls. */
export function* foldInSteps(turn: Turn, events: readonly TurnEvent[]): PausableWork<Turn> {
  let draft: TurnDraft | undefined
  let count = 0
  for (const event of events) {
    if (++count % eventsAtOnce === 0) yield
    if (event.turnId !== turn.id || event.seq <= (draft?.lastSeq ?? turn.lastSeq)) continue
    draft ??= createTurnDraft(turn)
    draft.lastSeq = event.seq
    applyEvent(draft, event)
  }
  return draft === undefined ? turn : draft.finish()
}

const eventsAtOnce = 512

/** The turn with events that are not stored yet: for planning only, never to be shown. */
export const foldOn = (turn: Turn, events: readonly NewTurnEvent[]): Turn =>
  events.length === 0 ? turn : foldTurn(turn, numberEvents(events, turn.lastSeq + 1))

/** A turn before its first event. Its position in the thread is the seq of its `turn-started`. */
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
  if (draft.head.takeovers !== undefined && isProgress(event)) {
    const { takeovers: _, ...head } = draft.head
    draft.head = head
  }
  if (isCallEvent(event)) {
    applyCallEvent(draft, event)
    return
  }
  switch (event.type) {
    case 'turn-started':
      draft.head = withDefined(
        { ...draft.head, replyTo: event.replyTo, createdAt: event.at },
        {
          metadata: event.metadata,
          choices: event.choices,
          trace: event.trace,
          recorded: event.recorded,
          versions: addVersion(event.versionOf, { id: event.turnId, seq: event.seq }),
        },
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
    case 'step-resumed':
      resumeStep(draft, event.model)
      return
    case 'step-abandoned':
      closeStep(
        draft,
        event.at,
        withDefined({ status: 'abandoned' } as const, { error: event.error }),
      )
      return
    case 'model-replaced':
      replaceModel(draft, event)
      return
    case 'input-joined':
      // A damaged ledger may lack the step that the input joined.
      if (draft.lastStep() === undefined) openStep(draft, event.at)
      draft.pushPart(
        withDefined(
          { type: 'steering', id: event.messageId, parts: event.parts, at: event.at } as const,
          { metadata: event.metadata },
        ),
      )
      return
    case 'turn-paused':
      draft.head = {
        ...draft.head,
        progress: { status: 'waiting', waitingFor: event.waitingFor },
      }
      return
    case 'turn-resumed':
      draft.head = withDefined(
        { ...draft.head, progress: { status: 'running' } },
        { continuedAfter: draft.head.continuedAfter ?? notedAfter(draft) },
      )
      if (event.from === 'takeover') countTakeover(draft)
      return
    case 'turn-copied': {
      const { steps, unreadable, ...head } = event.turn
      draft.head = { ...draft.head, ...head, createdAt: event.at }
      draft.unreadable = unreadable
      for (const step of steps) draft.pushStep(step)
      return
    }
    case 'feedback-given': {
      const { feedback: earlier, ...head } = draft.head
      draft.head = withDefined(head, { feedback: foldFeedback(earlier, event) })
      return
    }
    case 'turn-ended':
      endTurn(draft, event.ending, event.at)
      return
    default:
      assertNever(event)
  }
}

/**
 * Whether the next run need not repeat this event. Starting a step or a call is not progress, and neither are
 * parts of an unfinished step: a model or a tool that kills its process would otherwise be tried for ever
 * (AG7).
 */
function isProgress(event: NewTurnEvent): boolean {
  switch (event.type) {
    case 'step-ended':
      return event.finishReason !== 'interrupted'
    case 'call-settled':
      return !('cause' in event.outcome) || event.outcome.cause !== 'crashed'
    case 'turn-resumed':
      return event.from !== 'takeover'
    case 'call-decided':
    case 'call-resolved':
    case 'turn-paused':
    case 'turn-ended':
      return true
    default:
      return false
  }
}

/** The number of steps before the note of the turn's end, if there is one. */
function notedAfter(draft: TurnDraft): number | undefined {
  const { progress } = draft.head
  return progress.status === 'ended' && hasEndingNote(progress.ending)
    ? draft.stepCount()
    : undefined
}

function countTakeover(draft: TurnDraft): void {
  const { count, furthest } = draft.head.takeovers ?? { count: 0, furthest: 0 }
  const step = draft.lastStep()
  const reached = step?.status === 'open' ? lengthOf(step.parts) : 0
  draft.head = {
    ...draft.head,
    takeovers:
      reached > furthest ? { count: 1, furthest: reached } : { count: count + 1, furthest },
  }
}

const lengthOf = (parts: readonly Part[]): number =>
  parts.reduce((sum, part) => {
    if (part.type === 'text' || part.type === 'reasoning') return sum + part.text.length
    return (
      sum + (part.type === 'call' && part.input.kind === 'partial' ? part.input.text.length : 1)
    )
  }, 0)

function applyCallEvent(draft: TurnDraft, event: CallEvent): void {
  const located = draft.findCall(event.callId)
  if (located === undefined) {
    if (event.type !== 'call-announced' && event.type !== 'call-recorded') return
    const step = openStep(draft, event.at)
    draft.pushPart(newCall(event, step.index))
    return
  }
  const { from, to } = callTransition(event, lifecycleOf(located.call))
  // Stores refuse such events, but a damaged ledger may hold them. The first end of a call stays (CL2).
  if (!from.includes(lifecycleOf(located.call))) return
  const changed = changeCall(located.call, event, to)
  draft.replaceCall(
    located,
    event.type === 'call-settled' ? withResultStep(draft, changed) : changed,
  )
}

/**
 * A prompt repeats late results of provider-executed calls in the step in which they arrived, so that step is
 * kept.
 */
function withResultStep(draft: TurnDraft, call: Call): Call {
  const step = draft.lastStep()?.index ?? call.step
  const isLate = call.providerExecuted === true && step !== call.step
  return isLate ? { ...call, resultStep: step } : call
}

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

function addItem(draft: TurnDraft, item: ItemPart): void {
  if (!(item.type === 'data' && draft.replaceData(item))) draft.pushPart(item)
}

/** Old data and damaged ledgers may lack the start of a step. */
function openStep(draft: TurnDraft, at: number): Step {
  const last = draft.lastStep()
  if (last?.status === 'open') return last
  const step: Step = { index: (last?.index ?? -1) + 1, status: 'open', parts: [], startedAt: at }
  draft.pushStep(step)
  return step
}

function resumeStep(draft: TurnDraft, model: string | undefined): void {
  const step = draft.lastStep()
  if (step?.status !== 'open') return
  const resumedAfter = step.parts.reduce(
    (sum, part) => (part.type === 'text' ? sum + part.text.length : sum),
    0,
  )
  draft.replaceLastStep(withDefined({ ...step, resumedAfter }, { model }))
}

function replaceModel(
  draft: TurnDraft,
  { model, by, error }: Extract<NewTurnEvent, { type: 'model-replaced' }>,
): void {
  const step = draft.lastStep()
  if (step?.status !== 'open') return
  const replaced = [...(step.replaced ?? []), { model, by, error }]
  draft.replaceLastStep({ ...step, model: by, replaced })
}

function closeStep(
  draft: TurnDraft,
  at: number,
  how:
    | { readonly status: 'abandoned'; readonly error?: TurnError }
    | Extract<NewTurnEvent, { type: 'step-ended' }>,
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
      : withDefined({ ...base, status: 'abandoned' } as const, { error: how.error }),
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
  for (const located of draft.allCalls()) {
    if (!isOpenCall(located.call)) continue
    draft.replaceCall(located, settle(located.call, outcomeAtEnd(ending, located.call), at))
  }
  draft.head = { ...draft.head, progress: { status: 'ended', ending, endedAt: at } }
}
