import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { mostKeys, mostMessageValues } from '../core/json-width.ts'
import type { PausableWork } from '../core/pausable-work.ts'
import { columnOf, cutDeepText, decodeInSteps, parseJsonText } from './columns.ts'
import { isMastraContent } from './framework-message.ts'
import { callLists } from './old-fields.ts'
import { usedLists } from './ui-message.ts'
import { fileLists } from './user-message.ts'

/** Why a message is not read that has too many values, as JSON or as JSON text in it. */
export const tooManyValues = `It has more than ${mostMessageValues} values inside, or an object of more than ${mostKeys} keys.`

/** The fields that are a list or an object wherever they are read. */
const columnNames = [
  ...['parts', 'metadata', 'annotations', 'toolInvocations', 'drafts', 'replies', 'steering'],
  ...[...callLists, ...usedLists, ...fileLists],
]
const metadataNames = ['parts', ...usedLists]

/**
 * The message with its columns decoded for all who read them. JSON in a text has the same bounds as the message around it:
 * what is too deep is cut off, and `onCut` is called. `undefined`: it has too many values to be read (CL6a, CL6b).
 */
export function* checkColumns(
  message: JsonObject,
  onCut: () => void,
): PausableWork<JsonObject | undefined> {
  const checked = yield* checkFields(yield* checkContent(message, onCut), columnNames, onCut)
  const metadata = checked === undefined ? undefined : columnOf(checked, 'metadata')
  if (checked === undefined || !isJsonObject(metadata)) return checked
  const inside = yield* checkFields(metadata, metadataNames, onCut)
  if (inside === undefined) return undefined
  return inside === metadata ? checked : { ...checked, metadata: inside }
}

/** Content that is too deep or too wide stays the text that it is, unless it contains the message itself. */
function* checkContent(message: JsonObject, onCut: () => void): PausableWork<JsonObject> {
  const found = yield* decodeInSteps(message, 'content')
  if (found?.kind !== 'too-deep') return message
  const content = yield* cutColumn(message, 'content')
  if (!isMastraContent(content)) return message
  onCut()
  return { ...message, content }
}

function* checkFields(
  object: JsonObject,
  names: readonly string[],
  onCut: () => void,
): PausableWork<JsonObject | undefined> {
  const cut: Record<string, Json> = {}
  for (const name of names) {
    const found = yield* decodeInSteps(object, name)
    if (found?.kind === 'too-wide') return undefined
    if (found?.kind !== 'too-deep') continue
    const value = yield* cutColumn(object, name)
    if (value === undefined) continue
    cut[name] = value
    onCut()
  }
  return Object.keys(cut).length === 0 ? object : { ...object, ...cut }
}

function* cutColumn(object: JsonObject, name: string): PausableWork<Json | undefined> {
  const text = object[name]
  return typeof text === 'string' ? parseJsonText(yield* cutDeepText(text)) : undefined
}
