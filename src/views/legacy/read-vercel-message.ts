import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { withDefined } from '../../core/with-defined.ts'
import { addMissingContent, insertCalls } from './complete-steps.ts'
import {
  dateOf,
  fieldOf,
  flagOf,
  idOf,
  listOf,
  objectOf,
  partListOf,
  textOf,
} from './old-fields.ts'
import type { Mend, OldCall, OldStep, OldTurn } from './old-message.ts'
import type { ReadPart } from './read-part.ts'
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
  const whole = insertCalls(steps, missingCalls(message, parts, context))
  return withDefined({ kind: 'turn', steps: addMissingContent(whole, content) } as const, {
    id,
    at: dateOf(message),
    metadata: fieldOf(message, 'metadata'),
    isComplete: own === undefined ? undefined : flagOf(own, 'isComplete'),
  })
}

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

/** `toolInvocations` holds the same calls as the parts, where both are there. */
function missingCalls(
  message: JsonObject,
  parts: readonly ReadPart[],
  context: InvocationContext,
): readonly OldCall[] {
  const present = parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))
  return listOf(message, 'toolInvocations')
    .filter(isJsonObject)
    .map((invocation) =>
      readToolInvocation(objectOf(invocation, 'toolInvocation') ?? invocation, context),
    )
    .filter(({ id }) => present.length === 0 || (id !== undefined && !present.includes(id)))
}

/**
 * A message that `projectVercelMessage` wrote: the answer is the last text that is the content, and
 * what else was said without a call is an attempt that was broken off.
 */
function readExactSteps(parts: readonly ReadPart[], content: string): readonly OldStep[] {
  const isAnswer = (part: ReadPart) => part.type === 'text' && part.text === content
  const at = content.trim() === '' ? -1 : parts.findLastIndex(isAnswer)
  const answer = parts[at]
  const marked: readonly ReadPart[] =
    answer === undefined ? parts : parts.toSpliced(at + 1, 0, { type: 'step-start' })
  return toSteps(marked, 'exact').map((step) =>
    hasCall(step) || textOfStep(step) === '' || step.parts.some((part) => part === answer)
      ? step
      : { ...step, flaw: 'draft' },
  )
}
