import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { addListedCalls, addMissingContent } from './complete-steps.ts'
import {
  callListOf,
  dateOf,
  fieldOf,
  flagOf,
  idOf,
  listOf,
  objectOf,
  partListOf,
  textOf,
} from './old-fields.ts'
import { mergeRepeatedCalls } from './merge-repeated-calls.ts'
import type { MessagePart, Mend, OldCall, OldStep, OldTurn } from './old-message.ts'
import { readParts } from './read-parts.ts'
import { readValidated, type ResultMarks } from './read-result-value.ts'
import { type InvocationContext, readToolInvocation } from './read-tool-invocation.ts'
import { hasCall, textOfStep, toSteps } from './to-steps.ts'

/** An assistant message of AI SDK 4, with or without parts (LE1). */
export function readVercelMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  const id = idOf(message, 'id')
  const annotations = listOf(message, 'annotations').filter(isJsonObject)
  const own = annotations.findLast((mark) => id !== undefined && idOf(mark, 'messageId') === id)
  const context = { marksOf: marksFinder(annotations), isExact: own !== undefined, at }
  const content = textOf(message, 'content') ?? ''
  const parts = readParts(partsOf(message), context, mend)
  const steps = own === undefined ? toSteps(parts, 'loose') : readExactSteps(parts, content)
  const whole = addListedCalls(steps, readInvocations(message, context, mend))
  return withDefined({ kind: 'turn', steps: addMissingContent(whole, content) } as const, {
    id,
    at: dateOf(message),
    metadata: metadataOf(message),
    isComplete: own === undefined ? undefined : flagOf(own, 'isComplete'),
  })
}

/** The older `toolInvocations`: the same calls as in the parts, where both are there. */
export function readInvocations(
  message: JsonObject,
  context: InvocationContext,
  mend: Mend,
): readonly OldCall[] {
  const calls = callListOf(message, ['toolInvocations'], mend).map((invocation) =>
    readToolInvocation(objectOf(invocation, 'toolInvocation') ?? invocation, context),
  )
  return mergeRepeatedCalls(calls, mend)
}

/** Annotations of the app's own are kept where apps have had such things since. */
function metadataOf(message: JsonObject): Json | undefined {
  const metadata = fieldOf(message, 'metadata')
  const annotations = listOf(message, 'annotations').filter((mark) => !isOurs(mark))
  if (annotations.length === 0) return metadata
  return isJsonObject(metadata ?? {}) ? { ...(metadata as JsonObject), annotations } : metadata
}

const ourMarks = /^(?:toolCallId|tool_call_id|messageId|validated|isComplete|is_complete)$/

const isOurs = (mark: Json): boolean =>
  isJsonObject(mark) && Object.keys(mark).every((name) => ourMarks.test(name))

/** Before there were parts, the reasoning was a field of its own. */
function partsOf(message: JsonObject): readonly Json[] {
  const parts = partListOf(message)
  const reasoning = textOf(message, 'reasoning')
  if (parts.length > 0 || reasoning === undefined) return parts
  const content = textOf(message, 'content') ?? ''
  return [
    { type: 'reasoning', reasoning },
    { type: 'text', text: content },
  ]
}

function marksFinder(annotations: readonly JsonObject[]): InvocationContext['marksOf'] {
  const marks = new Map<string, ResultMarks>()
  for (const mark of annotations) {
    const id = idOf(mark, 'toolCallId', 'tool_call_id')
    if (id === undefined) continue
    const validated = readValidated(mark.validated)
    const isComplete = flagOf(mark, 'isComplete', 'is_complete')
    marks.set(id, withDefined({}, { validated, isComplete }))
  }
  return (id) => (id === undefined ? undefined : marks.get(id)) ?? {}
}

/**
 * A message that `projectVercelMessage` wrote: the answer is the last text that is the content, and
 * what else was said without a call is an attempt that was broken off.
 */
function readExactSteps(parts: readonly MessagePart[], content: string): readonly OldStep[] {
  const isAnswer = (part: MessagePart) => part.type === 'text' && part.text === content
  const at = content.trim() === '' ? -1 : parts.findLastIndex(isAnswer)
  const answer = parts[at]
  const marked: readonly MessagePart[] =
    answer === undefined ? parts : parts.toSpliced(at + 1, 0, { type: 'step-start' })
  return toSteps(marked, 'exact').map((step) =>
    hasCall(step) || textOfStep(step) === '' || step.parts.some((part) => part === answer)
      ? step
      : { ...step, flaw: 'draft' },
  )
}
