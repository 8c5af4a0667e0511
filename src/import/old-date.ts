import { isJsonObject, type Json } from '../core/json.ts'
import { furthestMs } from '../views/iso-date.ts'

const iso =
  /^((?:\d{4}|[+-]\d{6})-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d{1,9})?)? ?(Z|[+-]\d\d(?::?\d\d)?)?$/i

/** A date of old data in milliseconds. `undefined`: there is none, or it cannot be read. */
export function readOldDate(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return readNumber(value)
  // As MongoDB writes them: {"$date": …}, and in it perhaps {"$numberLong": …}.
  if (isJsonObject(value)) return readOldDate(value.$date ?? value.$numberLong)
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  if (/^\d{9,16}(?:\.\d+)?$/.test(text)) return readNumber(Number(text))
  const match = iso.exec(text)
  if (match === null) return /\b(?:GMT|UTC)\b/.test(text) ? toMs(text) : undefined
  const [, day, time = '00:00', seconds = ':00', fraction = '', zone = 'Z'] = match
  // A date without a zone is UTC: the same file has to read the same everywhere.
  const offset = /^[+-]/.test(zone)
    ? `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
    : 'Z'
  return toMs(`${day}T${time}${seconds}${fraction.slice(0, 4)}${offset}`)
}

function toMs(text: string): number | undefined {
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? undefined : ms
}

/** Numbers of the size of today's seconds are seconds; as milliseconds they would be in 1970–1973. */
function readNumber(value: number): number | undefined {
  const ms = Math.trunc(value >= 1e9 && value < 1e11 ? value * 1000 : value)
  return Math.abs(ms) <= furthestMs ? ms : undefined
}
