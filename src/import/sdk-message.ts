import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { type CallMarks, readMarks } from './call-outcome.ts'
import {
  callListOf,
  columnOf,
  dateOf,
  decodeColumn,
  fieldOf,
  flagOf,
  idOf,
  listOf,
  objectOf,
  partListOf,
  textOf,
} from './old-fields.ts'
import { readParts, toUserParts } from './message-parts.ts'
import {
  type InvocationContext,
  plainContext,
  readToolInvocation,
  readUsedTool,
} from './old-call.ts'
import type { MessagePart, OldCall, OldPart, OldStep, OldTurn, ReportMend } from './old-message.ts'
import {
  addListedCalls,
  addMissingContent,
  hasCall,
  mergeRepeatedCalls,
  textOfStep,
  toSteps,
} from './steps.ts'
import { splitFeedback } from '../core/feedback.ts'
import type { TurnEnding } from '../core/message.ts'
import { withoutVersions } from '../core/versions.ts'

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

/** How many parts stand before it; all of them where the note has no such number. */
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

/** An assistant message of AI SDK 5–7 (LE1). */
export function* readUiMessage(
  message: JsonObject,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  const parts = partListOf(message)
  const read = yield* readParts(
    parts.filter((part) => !isNote(part)),
    plainContext(at, mend),
  )
  const content = textOf(message, 'content') ?? ''
  const { metadata, feedback } = splitFeedback(withoutVersions(fieldOf(message, 'metadata')))
  return withDefined(
    {
      kind: 'turn',
      steps: yield* addMissingContent(toSteps(read, 'loose').map(readAttempt), content),
    } as const,
    {
      id: idOf(message, 'id'),
      at: dateOf(message),
      metadata,
      feedback,
      ending: readNote(parts.findLast(isNote)),
    },
  )
}

/** A text that is marked as part of an attempt that was broken off and run again (AG8). */
const isAttempt = (part: OldPart): boolean =>
  part.type === 'text' &&
  textOf(objectOf(part.providerMetadata ?? {}, 'holdfast') ?? {}, 'attempt') === 'abandoned'

/** A step with such a text was broken off; the mark is not part of the text. */
function readAttempt(step: OldStep): OldStep {
  if (!step.parts.some(isAttempt)) return step
  const parts = step.parts.map((part): OldPart => {
    if (!isAttempt(part) || part.type !== 'text') return part
    const { providerMetadata = {}, ...text } = part
    const { holdfast: _, ...rest } = providerMetadata
    return Object.keys(rest).length === 0 ? text : { ...text, providerMetadata: rest }
  })
  return { ...step, parts, flaw: 'draft' }
}

const isNote = (part: Json): boolean =>
  isJsonObject(part) && part.type === 'data-holdfast' && part.id === 'holdfast'

/** How a turn that did not complete ended, from the note that `projectUiMessage` writes. */
function readNote(part: Json | undefined): TurnEnding | undefined {
  const data = isJsonObject(part) ? objectOf(part, 'data') : undefined
  const status = data === undefined ? undefined : textOf(data, 'status')
  switch (status) {
    case 'stopped':
    case 'cut-off':
    case 'step-limit':
    case 'no-answer':
    case 'interrupted':
      return { kind: status }
    case 'failed': {
      const message = textOf(data as JsonObject, 'message') ?? ''
      return { kind: 'failed', error: { code: 'imported', message } }
    }
    default:
      return undefined
  }
}

/** The fields in which a message, or its metadata, has the tools that ran. */
export const usedLists = ['tools_used', 'toolsUsed'] as const

/** Whether the metadata of a message has the parts or the tools that the message itself lacks. */
export function hasStoredTools(message: JsonObject): boolean {
  const metadata = objectOf(message, 'metadata')
  if (usedLists.some((name) => Array.isArray(columnOf(message, name)))) return true
  return (
    metadata !== undefined &&
    ['parts', ...usedLists].some((name) => Array.isArray(columnOf(metadata, name)))
  )
}

/**
 * A message whose own parts are text only, while its metadata has all parts, or the tools that ran (LE2).
 * Either may be present without the other.
 */
export function* readToolsUsedMessage(
  message: JsonObject,
  at: number,
  mend: ReportMend,
): PausableWork<OldTurn> {
  const metadata = objectOf(message, 'metadata') ?? {}
  const { parts: _parts, tools_used: _used, toolsUsed: _usedToo, ...rest } = metadata
  const { metadata: _, ...plain } = message
  const turn = yield* readUiMessage({ ...plain, parts: fullerParts(message) }, at, mend)
  const listed = [
    ...usedLists.flatMap((name) => listOf(metadata, name)),
    ...usedLists.flatMap((name) => listOf(message, name)),
  ]
  const entries = listed.flatMap((entry, index) => toEntry(entry, index, mend))
  const used = yield* mapInSteps(entries, (entry) => readUsedTool(entry, at, mend))
  return withDefined(
    { ...turn, steps: addListedCalls(turn.steps, used) },
    { metadata: Object.keys(rest).length === 0 ? undefined : rest },
  )
}

/** The message's own parts, unless only those in the metadata have more than text. */
function fullerParts(message: JsonObject): readonly Json[] {
  const own = listOf(message, 'parts')
  const stored = listOf(objectOf(message, 'metadata') ?? {}, 'parts')
  if (own.length === 0) return stored
  return own.every(isText) && stored.some((part) => !isText(part)) ? stored : own
}

const isText = (part: Json): boolean =>
  isJsonObject(part) && (part.type === 'text' || part.type === 'step-start')

/** Some apps stored only the names. */
function toEntry(value: Json, index: number, mend: ReportMend): readonly JsonObject[] {
  const entry = decodeColumn(value)
  if (isJsonObject(entry)) return [entry]
  if (typeof entry === 'string' && entry.trim() !== '') return [{ tool: entry }]
  mend(`metadata.tools_used[${index}]: It is no tool: it was left out.`)
  return []
}
