import { splitFeedback } from '../core/feedback.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import type { TurnEnding } from '../core/message.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import { withDefined } from '../core/with-defined.ts'
import { withoutVersions } from '../core/versions.ts'
import { readParts } from './message-parts.ts'
import { plainContext, readUsedTool } from './old-call.ts'
import { columnOf, decodeColumn } from './columns.ts'
import { dateOf, fieldOf, idOf, listOf, objectOf, partListOf, textOf } from './old-fields.ts'
import type { ReportMend, OldPart, OldStep, OldTurn } from './old-message.ts'
import { addListedCalls, addMissingContent, toSteps } from './steps.ts'

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
export function readAttempt(step: OldStep): OldStep {
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
