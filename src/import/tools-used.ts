import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { readUsedTool } from './old-call.ts'
import { listOf, objectOf, unpack } from './old-fields.ts'
import type { Mend, OldTurn } from './old-message.ts'
import { addListedCalls } from './steps.ts'
import { readUiMessage } from './ui-message.ts'

const usedLists = ['tools_used', 'toolsUsed'] as const

/** Whether the metadata of a message has the parts or the tools that the message itself lacks. */
export function hasStoredTools(message: JsonObject): boolean {
  const metadata = objectOf(message, 'metadata')
  if (usedLists.some((name) => Array.isArray(unpack(message[name])))) return true
  return (
    metadata !== undefined &&
    ['parts', ...usedLists].some((name) => Array.isArray(unpack(metadata[name])))
  )
}

/**
 * A message whose own parts are text only, while its metadata has them whole, or says which tools ran
 * (LE2). Either may be there without the other.
 */
export function readToolsUsedMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  const metadata = objectOf(message, 'metadata') ?? {}
  const { parts: _parts, tools_used: _used, toolsUsed: _usedToo, ...rest } = metadata
  const { metadata: _, ...plain } = message
  const turn = readUiMessage({ ...plain, parts: fullerParts(message) }, at, mend)
  const listed = [
    ...usedLists.flatMap((name) => listOf(metadata, name)),
    ...usedLists.flatMap((name) => listOf(message, name)),
  ]
  const used = listed
    .flatMap((entry, index) => toEntry(entry, index, mend))
    .map((entry) => readUsedTool(entry, at, mend))
  return withDefined(
    { ...turn, steps: addListedCalls(turn.steps, used) },
    { metadata: Object.keys(rest).length === 0 ? undefined : rest },
  )
}

/** The message's own parts, unless only those in the metadata have more than text. */
export function fullerParts(message: JsonObject): readonly Json[] {
  const own = listOf(message, 'parts')
  const stored = listOf(objectOf(message, 'metadata') ?? {}, 'parts')
  if (own.length === 0) return stored
  return own.every(isText) && stored.some((part) => !isText(part)) ? stored : own
}

const isText = (part: Json): boolean =>
  isJsonObject(part) && (part.type === 'text' || part.type === 'step-start')

/** Some apps kept no more than the names. */
function toEntry(value: Json, index: number, mend: Mend): readonly JsonObject[] {
  const entry = unpack(value)
  if (isJsonObject(entry)) return [entry]
  if (typeof entry === 'string' && entry.trim() !== '') return [{ tool: entry }]
  mend(`metadata.tools_used[${index}]: It is no tool: it was left out.`)
  return []
}
