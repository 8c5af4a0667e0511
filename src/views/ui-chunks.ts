import { isOpenCall } from '../core/call.ts'
import type { Part, Step, Turn } from '../core/message.ts'
import type { FinishReason } from '../core/usage.ts'
import { withDefined } from '../core/with-defined.ts'
import { toClientJson } from './client-json.ts'
import { hasModelFailures, shownMetadata } from './shown-metadata.ts'
import { sameJson } from './same-json.ts'
import { shownPartsOf } from './shown-parts.ts'
import type { UiChunk } from './ui-chunk.ts'
import { projectNotePart } from './ui-note-part.ts'
import { projectUiPart, type UiOptions } from './ui-part.ts'
import { partChunks } from './ui-part-chunks.ts'

/**
 * The state of one client of a UI message stream: a value, so that it can be kept, dropped or created again.
 * It never depends on events, only on what the client has and on the current turn. So a stream continues in
 * the same way after a gap, after the turn has ended, and from nothing.
 */
export interface UiChunkCursor {
  readonly options: UiOptions
  /** The state of the turn that the client has. */
  readonly turn: Turn | null
  /** `start` was sent, and no `finish` since. */
  readonly isOpen: boolean
  /** The index in `steps` of the last step that the client has; -1 for none. */
  readonly lastStep: number
  /** The client has not got the `finish-step` of that step. */
  readonly isStepOpen: boolean
}

/** `sent`: counts everything in this state as sent, for a client that has it and continues from there. */
export function createUiChunkCursor(
  options: UiOptions & { readonly sent?: Turn } = {},
): UiChunkCursor {
  const { sent, ...rest } = options
  return {
    options: rest,
    turn: sent ?? null,
    isOpen: false,
    lastStep: sent?.steps.findLastIndex((step) => isShown(step, sent, rest)) ?? -1,
    isStepOpen: false,
  }
}

/** The chunks that bring the cursor's client to the current state of the turn. */
export function nextChunks(
  cursor: UiChunkCursor,
  turn: Turn,
): { readonly cursor: UiChunkCursor; readonly chunks: readonly UiChunk[] } {
  if (cursor.turn === turn) return { cursor, chunks: [] }
  const chunks: UiChunk[] = []
  let { lastStep, isStepOpen } = cursor
  const isRunning = turn.progress.status === 'running'

  const note = projectNotePart(turn)
  const seenNote = cursor.turn === null ? null : projectNotePart(cursor.turn)
  let isNoteDue = note !== null && !sameJson(seenNote?.data, note.data)
  // Where the client has none, it comes where a client that saw the first end has it; otherwise it stays where it is.
  const notePlace = (seenNote === null ? turn.continuedAfter : undefined) ?? turn.steps.length

  for (const [index, step] of turn.steps.entries()) {
    const before = cursor.turn?.steps[index]
    if (before === step || (index < lastStep && before === undefined)) continue
    if (note !== null && isNoteDue && index >= notePlace) {
      chunks.push(note)
      isNoteDue = false
    }
    for (const chunk of stepChunks(cursor, before, step, turn, index >= lastStep)) {
      if (index > lastStep) {
        if (isStepOpen) chunks.push({ type: 'finish-step' })
        chunks.push({ type: 'start-step' })
        lastStep = index
        isStepOpen = true
      }
      chunks.push(chunk)
    }
  }
  const metadata = cursor.isOpen && hasModelFailures(turn) ? shownMetadata(turn) : undefined
  if (metadata !== undefined && !sameJson(metadata, cursor.turn && shownMetadata(cursor.turn))) {
    chunks.push({ type: 'message-metadata', messageMetadata: metadata })
  }
  if (note !== null && isNoteDue) chunks.push(note)
  if (isStepOpen && isStepOver(turn.steps[lastStep], isRunning)) {
    chunks.push({ type: 'finish-step' })
    isStepOpen = false
  }

  // A run without any parts that ended between two reads still gets a `start` and a `finish`, so that its
  // reader sees it.
  const hasMoved = cursor.turn === null || cursor.turn.lastSeq !== turn.lastSeq
  const begins = !cursor.isOpen && (hasMoved || isRunning || chunks.length > 0)
  if (begins) chunks.unshift(startChunk(turn))
  const isOpen = cursor.isOpen || begins
  if (isOpen && !isRunning) chunks.push(...finishChunks(turn))
  return {
    cursor: {
      options: cursor.options,
      turn,
      isOpen: isOpen && isRunning,
      lastStep,
      isStepOpen,
    },
    chunks: chunks.map(toClientJson),
  }
}

function* stepChunks(
  { turn: seen, options }: UiChunkCursor,
  before: Step | undefined,
  step: Step,
  turn: Turn,
  isInLastStep: boolean,
): Generator<UiChunk> {
  const seenParts = before === undefined ? [] : shownPartsOf(before)
  for (const [index, part] of shownPartsOf(step).entries()) {
    const known = seenParts[index]
    if (known === part) continue
    const from = known === undefined || seen === null ? undefined : { part: known, turn: seen }
    yield* partChunks(from, { part, turn }, options, isInLastStep)
  }
}

const isShown = (step: Step, turn: Turn, options: UiOptions): boolean =>
  step.parts.some((part) => projectUiPart(part, turn, options) !== null)

/** As in the AI SDK, a step is over when its calls are, or when the turn no longer runs. */
function isStepOver(step: Step | undefined, isRunning: boolean): boolean {
  if (step === undefined) return true
  // Clients drop open text at the end of a step, and could then not receive the rest of it.
  if (shownPartsOf(step).some(isOpenText)) return false
  return !isRunning || (step.status !== 'open' && !step.parts.some(isOpenCallPart))
}

const isOpenText = (part: Part): boolean =>
  (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming'
const isOpenCallPart = (part: Part): boolean => part.type === 'call' && isOpenCall(part)

const startChunk = (turn: Turn): UiChunk =>
  withDefined({ type: 'start', messageId: turn.id } as const, {
    messageMetadata: shownMetadata(turn),
  })

function finishChunks({ progress, steps }: Turn): readonly UiChunk[] {
  const last = steps.at(-1)
  const reason = last?.status === 'ended' ? last.finishReason : 'other'
  if (progress.status === 'ended' && progress.ending.kind === 'failed') {
    // A client ignores everything after an error.
    return [
      { type: 'finish', finishReason: 'error' },
      { type: 'error', errorText: progress.ending.error.message },
    ]
  }
  return [
    {
      type: 'finish',
      finishReason: progress.status === 'waiting' ? 'tool-calls' : toSdkReason(reason),
    },
  ]
}

const toSdkReason = (reason: FinishReason) =>
  reason === 'stopped' || reason === 'interrupted' ? 'other' : reason
