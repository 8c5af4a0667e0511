import { assertNever } from '../../core/assert-never.ts'
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { detectMessageFormat, type LegacyFormat } from './detect-format.ts'
import { dateOf, textOf } from './old-fields.ts'
import type { Mend, OldMessage, OldTurn } from './old-message.ts'
import { readCommentaryMessage } from './read-commentary-message.ts'
import { type PlacedMessage, readEntityRows } from './read-entity-rows.ts'
import { readToolsUsedMessage } from './read-tools-used-message.ts'
import { readUiMessage } from './read-ui-message.ts'
import { readUserMessage } from './read-user-message.ts'
import { readVercelMessage } from './read-vercel-message.ts'
import type { Report } from './report.ts'

/** A list of any format as messages. Rows that stand together are read together. */
export function readMessages(
  values: readonly Json[],
  format: LegacyFormat | 'auto',
  at: number,
  report: Report,
): readonly PlacedMessage[] {
  if (format === 'entities') return readEntityRows(values, 0, at, report)
  const placed: PlacedMessage[] = []
  for (let index = 0; index < values.length; index++) {
    const value = values[index] as Json
    if (format === 'auto' && isRow(value)) {
      const end = values.findIndex((other, place) => place > index && !isRow(other))
      const rows = values.slice(index, end === -1 ? values.length : end)
      for (const message of readEntityRows(rows, index, at, report)) placed.push(message)
      index += rows.length - 1
      continue
    }
    const message = readMessage(value, format, at, (what) => report.mend(index, what))
    if (typeof message === 'string') report.fail(index, message)
    else placed.push({ index, message })
  }
  return placed
}

const isRow = (value: Json): boolean =>
  isJsonObject(value) && detectMessageFormat(value) === 'entities'

function readMessage(
  value: Json,
  format: Exclude<LegacyFormat, 'entities'> | 'auto',
  at: number,
  mend: Mend,
): OldMessage | string {
  if (!isJsonObject(value)) return 'It is not an object.'
  const role = (textOf(value, 'role') ?? '').toLowerCase()
  if (role === 'user' || role === 'system') return readUserMessage(value, role, mend)
  if (role !== 'assistant') return `Its role ${JSON.stringify(role.slice(0, 80))} is not known.`
  const own = format === 'auto' ? detectMessageFormat(value) : format
  return readTurn(value, own, dateOf(value) ?? at, mend)
}

function readTurn(message: JsonObject, format: LegacyFormat, at: number, mend: Mend): OldTurn {
  switch (format) {
    case 'ui':
      return readUiMessage(message, at, mend)
    case 'tools-used':
      return readToolsUsedMessage(message, at, mend)
    case 'commentary':
      return readCommentaryMessage(message, at, mend)
    // A message with a role is no row, whatever the caller took the list for.
    case 'entities':
    case 'vercel':
      return readVercelMessage(message, at, mend)
    default:
      return assertNever(format)
  }
}
