import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import { dateOf, fieldOf, idOf, listOf, textOf, valueOf } from './old-fields.ts'
import { readOldDate } from './old-date.ts'
import type { Mend, OldCall, OldPart, OldStep, OldTurn } from './old-message.ts'
import { readArguments } from './read-arguments.ts'
import { readChatOutcome } from './read-chat-outcome.ts'
import { readToolName } from './read-tool-name.ts'
import { stripCommentary } from './strip-commentary.ts'

/** A message with `toolCalls` beside its content, and with commentary in either or in both (LE3). */
export function readCommentaryMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  // `projectChatMessage` keeps them apart: there the content is the answer, whatever it begins with.
  const isExact = Object.hasOwn(message, 'toolActivity')
  const content = textOf(message, 'content') ?? ''
  const calls = listOf(message, 'toolCalls', 'tool_calls').filter(isJsonObject)
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

/** A call with commentary of its own begins a step, unless the data says which step it is of. */
function toSteps(calls: readonly JsonObject[], at: number, isExact: boolean): readonly OldStep[] {
  const steps: { parts: OldPart[]; index?: number }[] = []
  let before = ''
  for (const value of calls) {
    const call = readCall(value, at, isExact)
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

function readCall(call: JsonObject, at: number, isExact: boolean): OldCall {
  const step = fieldOf(call, 'step')
  const date = (...names: readonly string[]) => readOldDate(fieldOf(call, ...names))
  const read = readChatOutcome(call, at)
  const args = valueOf(call, 'args', 'arguments', 'input')
  return withDefined(
    {
      type: 'call',
      name: readToolName(call),
      input: readArguments(args, isExact),
      ...read,
    } as const,
    {
      id: idOf(call, 'id', 'toolCallId', 'tool_call_id'),
      step: Number.isSafeInteger(step) ? (step as number) : undefined,
      createdAt: date('createdAt', 'created_at'),
      startedAt: date('startedAt', 'started_at') ?? (isExact ? undefined : read.startedAt),
      endedAt: date('completedAt', 'completed_at', 'endedAt', 'ended_at'),
    },
  )
}
