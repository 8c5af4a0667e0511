import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { type CallMarks, readMarks } from './call-outcome.ts'
import { decodeColumn } from './columns.ts'
import { readParts } from './message-parts.ts'
import { type InvocationContext, readToolInvocation } from './old-call.ts'
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
import type { ReportMend, MessagePart, OldCall, OldStep, OldTurn } from './old-message.ts'
import { mergeRepeatedCalls } from './repeated-calls.ts'
import { readAttempt } from './ui-message.ts'
import { toUserParts } from './user-message.ts'
import { addListedCalls, addMissingContent, hasCall, textOfStep, toSteps } from './steps.ts'

/** An assistant message of AI SDK 4, with or without parts (LE1). */
export function* readVercelMessage(
  message: JsonObject,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  const id = idOf(message, 'id')
  const marks = annotationsOf(message)
  const annotations = marks.filter(isJsonObject)
  const own = annotations.findLast(
    (mark) => id !== undefined && idOf(mark, 'messageId', 'message_id') === id,
  )
  const context = { marksOf: marksFinder(annotations, mend), isExact: own !== undefined, at, mend }
  const content = textOf(message, 'content') ?? ''
  const steering = annotations.filter(isSteeringNote)
  const parts = yield* readParts(yield* addNoted(partsOf(message), annotations, steering), context)
  const steps =
    own === undefined
      ? toSteps(parts, 'loose')
      : readExactSteps(parts, content, steering.length > 0).map(readAttempt)
  const whole = addListedCalls(steps, yield* readInvocations(message, context))
  const complete = yield* addMissingContent(whole, content)
  return withDefined({ kind: 'turn', steps: complete } as const, {
    id,
    at: dateOf(message),
    metadata: metadataOf(message, marks),
    isComplete: own === undefined ? undefined : flagOf(own, 'isComplete', 'is_complete'),
  })
}

/** The parts with what the annotations say of them: which are attempts, and what joined the turn behind which of them. */
function* addNoted(
  values: readonly Json[],
  annotations: readonly JsonObject[],
  steering: readonly JsonObject[],
): PausableWork<readonly Json[]> {
  const attempts = new Set(
    annotations.flatMap((mark) =>
      textOf(mark, 'attempt') === 'abandoned' ? [fieldOf(mark, 'part')] : [],
    ),
  )
  const joined = Map.groupBy(steering, (note) => placeOf(note, values))
  const noted: Json[] = []
  for (let after = 0; after <= values.length; after++) {
    yield
    const isAttempt = attempts.has(after - 1)
    const part = values[after - 1]
    if (part !== undefined) noted.push(isAttempt ? toAttempt(part) : part)
    const notes = joined.get(after) ?? []
    for (const note of notes) noted.push(toSteeringPart(note))
    if (isAttempt || notes.length > 0) noted.push(stepStart)
  }
  return noted
}

/** What follows a broken attempt, or a message that joined, belongs to the next step, also if it is a call. */
const stepStart = { type: 'step-start' } as const

/** As `projectUiMessage` marks it (AG8). */
const toAttempt = (part: Json): Json =>
  isJsonObject(part) ? { ...part, providerMetadata: { holdfast: { attempt: 'abandoned' } } } : part

/** A message that joined the turn, as `projectVercelMessage` writes it (IN3). */
const isSteeringNote = (mark: Json): mark is JsonObject =>
  isJsonObject(mark) &&
  idOf(mark, 'steering') !== undefined &&
  textOf(mark, 'text') !== undefined &&
  Object.keys(mark).every((name) => steeringMarks.has(name))

const steeringMarks: ReadonlySet<string> = new Set(['steering', 'step', 'part', 'text', 'files'])

const toSteeringPart = (note: JsonObject): JsonObject =>
  withDefined(
    {
      type: 'steering-message',
      id: idOf(note, 'steering') ?? '',
      parts: toUserParts(textOf(note, 'text') ?? '', note),
    },
    { step: fieldOf(note, 'step') },
  )

/** How many parts stand before it; all of them where it does not say so. */
function placeOf(note: JsonObject, parts: readonly Json[]): number {
  const place = fieldOf(note, 'part')
  return typeof place === 'number' && place >= 0 && place < parts.length ? place : parts.length
}

/** The older `toolInvocations`: the same calls as in the parts, where both are present. */
export function* readInvocations(
  message: JsonObject,
  context: InvocationContext,
): PausableWork<readonly OldCall[]> {
  const { mend } = context
  const listed = callListOf(message, ['toolInvocations'], mend)
  const calls = yield* mapInSteps(listed, (invocation) =>
    readToolInvocation(objectOf(invocation, 'toolInvocation') ?? invocation, context),
  )
  return yield* mergeRepeatedCalls(calls, mend)
}

/** Annotations of the app's own are kept in the metadata, where later versions have such data. */
function metadataOf(message: JsonObject, marks: readonly Json[]): Json | undefined {
  const metadata = fieldOf(message, 'metadata')
  const annotations = marks.filter((mark) => !isOurs(mark))
  if (annotations.length === 0) return metadata
  return isJsonObject(metadata ?? {}) ? { ...(metadata as JsonObject), annotations } : metadata
}

const ourMarks =
  /^(?:toolCallId|tool_call_id|messageId|message_id|validated|isComplete|is_complete|isError|part|attempt)$/

const isOurs = (mark: Json): boolean =>
  isSteeringNote(mark) ||
  (isJsonObject(mark) && Object.keys(mark).every((name) => ourMarks.test(name)))

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

/** An annotation may be JSON text. */
const annotationsOf = (message: JsonObject): readonly Json[] =>
  listOf(message, 'annotations').map((mark) => decodeColumn(mark) ?? mark)

function marksFinder(
  annotations: readonly JsonObject[],
  mend: ReportMend,
): InvocationContext['marksOf'] {
  const marks = new Map<string, CallMarks>()
  for (const mark of annotations) {
    const id = idOf(mark, 'toolCallId', 'tool_call_id')
    // Annotations are added while a call runs: a later one replaces an earlier one.
    if (id !== undefined) marks.set(id, { ...marks.get(id), ...readMarks(mark, mend) })
  }
  return (id) => (id === undefined ? undefined : marks.get(id)) ?? {}
}

/**
 * A message that `projectVercelMessage` wrote: the answer is the last text that equals the content, and any
 * other text without a call is an attempt that was broken off, or an answer to what was said before (IN3).
 */
function readExactSteps(
  parts: readonly MessagePart[],
  content: string,
  isSteered: boolean,
): readonly OldStep[] {
  const isAnswer = (part: MessagePart) => part.type === 'text' && part.text === content
  const at = content.trim() === '' ? -1 : parts.findLastIndex(isAnswer)
  const answer = parts[at]
  const marked: readonly MessagePart[] =
    answer === undefined ? parts : parts.toSpliced(at + 1, 0, { type: 'step-start' })
  return toSteps(marked, 'exact').map((step) =>
    isSteered ||
    hasCall(step) ||
    textOfStep(step) === '' ||
    step.parts.some((part) => part === answer)
      ? step
      : { ...step, flaw: 'draft' },
  )
}
