import type { Call } from '../core/call.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import { withDefined } from '../core/with-defined.ts'

/** The progress that a tool reports: a sentence, a count, or a count of a total. At least one of them. */
export interface CallProgress {
  readonly message?: string
  readonly done?: number
  readonly total?: number
}

const longest = 200

/**
 * The progress of a running call, from the newest value that its tool yielded: a string is a sentence; an
 * object may have `message`, `progress` and `total`, as in MCP. Null: the value contains no progress.
 */
export function projectProgress(call: Call): CallProgress | null {
  if (call.state !== 'running' || call.preliminary === undefined) return null
  return readProgress(call.preliminary)
}

function readProgress(yielded: Json): CallProgress | null {
  if (typeof yielded === 'string') {
    const message = toSentence(yielded)
    return message === undefined ? null : { message }
  }
  if (!isJsonObject(yielded)) return null
  const message = toSentence(yielded['message'])
  const total = toCount(yielded['total'])
  const counted = toCount(yielded['progress'])
  if (message === undefined && counted === undefined) return null
  const hasTotal = total !== undefined && total > 0 && counted !== undefined
  return withDefined(
    {},
    {
      message,
      done: hasTotal ? Math.min(counted, total) : counted,
      total: hasTotal ? total : undefined,
    },
  )
}

/** The first line, cut to the longest that is shown. */
function toSentence(value: Json | undefined): string | undefined {
  const line = typeof value === 'string' ? (value.trim().split(/[\r\n]/, 1)[0] ?? '') : ''
  if (line === '') return undefined
  return line.length <= longest ? line : `${line.slice(0, longest).trimEnd()}…`
}

const toCount = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
