import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'
import { addListedCalls } from './complete-steps.ts'
import { fieldOf, listOf, objectOf } from './old-fields.ts'
import type { Mend, OldCall, OldTurn } from './old-message.ts'
import { failureOf, readCallStatus, readErrorValue } from './read-call-status.ts'
import { readCallHead } from './read-call-head.ts'
import { readResultValue } from './read-result-value.ts'
import { readUiMessage } from './read-ui-message.ts'

/** A message whose parts are text only, while `metadata.tools_used` says which tools ran (LE2). */
export function readToolsUsedMessage(message: JsonObject, at: number, mend: Mend): OldTurn {
  const metadata = objectOf(message, 'metadata') ?? {}
  const { parts: _parts, tools_used: _used, ...rest } = metadata
  const stored = listOf(message, 'parts')
  const { metadata: _, ...plain } = message
  const parts = stored.length > 0 ? stored : listOf(metadata, 'parts')
  const turn = readUiMessage({ ...plain, parts }, at, mend)
  const entries = listOf(metadata, 'tools_used').flatMap((entry, index) =>
    toEntry(entry, index, mend),
  )
  const used = entries.map((entry) => readUsedTool(entry, at, mend))
  return withDefined(
    { ...turn, steps: addListedCalls(turn.steps, used) },
    { metadata: Object.keys(rest).length === 0 ? undefined : rest },
  )
}

/** Some apps kept no more than the names. */
function toEntry(entry: Json, index: number, mend: Mend): readonly JsonObject[] {
  if (isJsonObject(entry)) return [entry]
  if (typeof entry === 'string' && entry.trim() !== '') return [{ tool: entry }]
  mend(`metadata.tools_used[${index}]: It is no tool: it was left out.`)
  return []
}

function readUsedTool(entry: JsonObject, at: number, mend: Mend): OldCall {
  const head = readCallHead(entry)
  const status = readCallStatus(entry)
  const error = readErrorValue(fieldOf(entry, 'error'))
  const field = ['result', 'output'].find((name) => Object.hasOwn(entry, name))
  const result = field === undefined ? undefined : entry[field]
  if (error !== undefined || status === 'failed') {
    return { ...head, outcome: failureOf(error, result) }
  }
  if (result !== undefined) return { ...head, ...readResultValue(result, {}, at) }
  if (status === 'open') return { ...head, outcome: 'open' }
  mend(`No result of ${head.name} was kept: it is null.`)
  return { ...head, ...readResultValue(null, {}, at) }
}
