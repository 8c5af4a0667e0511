import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import {
  callListOf,
  callLists,
  dateOf,
  fieldOf,
  idOf,
  partListOf,
  stepOf,
  textOf,
} from './old-fields.ts'
import { readOldDate } from './old-date.ts'
import type { Mend, OldCall, OldPart, OldStep, OldTurn } from './old-message.ts'
import { readCallHead } from './read-call-head.ts'
import { readChatOutcome } from './read-chat-outcome.ts'
import { stripCommentary } from './strip-commentary.ts'

/** A message with `toolCalls` beside its content, and with commentary in either or in both (LE3). */
export function readCommentaryMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  // `projectChatMessage` keeps them apart: there the content is the answer, whatever it begins with.
  const isExact = Object.hasOwn(message, 'toolActivity')
  const content = textOf(message, 'content') || textOfParts(partListOf(message))
  const calls = callListOf(message, callLists, mend)
  const commentary = calls.map((call) => textOf(call, 'commentary') ?? '')
  const answer = isExact ? content : stripCommentary(content, commentary)
  if (answer !== content) mend('Commentary stood at the start of the content: it was taken out.')
  const steps = toSteps(calls, at, isExact)
  return withDefined(
    {
      kind: 'turn',
      steps: answer.trim() === '' ? steps : [...steps, { parts: [{ type: 'text', text: answer }] }],
    } as const,
    { id: idOf(message, 'id'), at: dateOf(message), metadata: fieldOf(message, 'metadata') },
  )
}

const textOfParts = (parts: readonly Json[]): string =>
  parts.map((part) => (isJsonObject(part) ? (textOf(part, 'text') ?? '') : '')).join('')

/** A call with commentary of its own begins a step, unless the data says which step it is of. */
function toSteps(calls: readonly JsonObject[], at: number, isExact: boolean): readonly OldStep[] {
  const steps: { parts: OldPart[]; index?: number }[] = []
  let before = ''
  for (const value of calls) {
    const call = readChatCall(value, at, isExact)
    const commentary = textOf(value, 'commentary') ?? ''
    // Some apps wrote the same commentary to every call of a step.
    const isNew = commentary.trim() !== '' && (isExact || commentary !== before)
    const current = steps.at(-1)
    const begins =
      current === undefined || (call.step === undefined ? isNew : call.step !== current.index)
    const step = begins ? withDefined({ parts: [] as OldPart[] }, { index: call.step }) : current
    if (begins) steps.push(step)
    if (isNew) step.parts.push({ type: 'text', text: commentary })
    step.parts.push(call)
    before = commentary
  }
  return steps
}

/** A call as it stands in `toolCalls`. `isExact`: `projectChatMessage` wrote it. */
export function readChatCall(call: JsonObject, at: number, isExact = false): OldCall {
  const date = (...names: readonly string[]) => readOldDate(fieldOf(call, ...names))
  const read = readChatOutcome(call, at)
  return withDefined(
    { ...readCallHead(call, isExact), ...read },
    {
      step: stepOf(call),
      createdAt: date('createdAt', 'created_at'),
      startedAt: date('startedAt', 'started_at') ?? (isExact ? undefined : read.startedAt),
      endedAt: date('completedAt', 'completed_at', 'endedAt', 'ended_at'),
    },
  )
}
