import { asSchema, type Tool } from 'ai'
import { isJsonObject, type Json } from '../core/json.ts'
import { toReadableThrown } from '../core/error-text.ts'
import { deepestValue, isDeeperThan } from '../core/json-depth.ts'
import { isTooWide, tooWide } from '../core/json-width.ts'
import { type Clock, within } from './clock.ts'
import { toJson } from './to-json.ts'
import { messageOf } from './model/translate-part.ts'

/** Whose clock and time limit for functions of the host application apply. */
export interface CheckedBy {
  readonly clock: Clock
  readonly options: { readonly agentTimeoutMs: number }
}

/** A value as a schema returns it (stripped, with defaults, transformed), or why it does not fit. */
export type FittedValue =
  | { readonly kind: 'fits'; readonly value: Json }
  | { readonly kind: 'refused'; readonly message: string }

/**
 * The schema is the host application's code, and threw: its error text may contain anything, and is not for the sender
 * of the value (HT6).
 */
export interface FailedCheck {
  readonly kind: 'failed'
  readonly error: unknown
}

/**
 * Validates a value that a person sent. The value that the schema returns, and not the one that was sent, is stored and
 * run: a field that the schema strips would otherwise reach the tool. Must be called once for each value, because
 * transforming a transformed value gives another value.
 */
export async function fitSchema(
  { clock, options: { agentTimeoutMs } }: CheckedBy,
  schema: Exclude<Tool['inputSchema'], undefined>,
  given: Json,
): Promise<FittedValue | FailedCheck> {
  if (isDeeperThan(given, deepestValue)) return tooDeep
  if (isTooWide(given)) return tooMany
  try {
    const value = toJson(given)
    // It may be asynchronous, and never return: a request would wait for ever, and keep its owner's place.
    const check = async () => asSchema(schema).validate?.(value)
    const checked = await within(clock, agentTimeoutMs, check, 'The check of a schema')
    if (checked === undefined) return { kind: 'fits', value }
    if (!checked.success) return refuse(checked.error)
    return isDeeperThan(checked.value, deepestValue)
      ? tooDeep
      : { kind: 'fits', value: toJson(checked.value) }
  } catch (error) {
    // A schema that calls another one throws the other's findings.
    return refuse(error)
  }
}

/** Findings are about the value. Any other error, thrown or returned, is the host's own: it may name what its check asked. */
function refuse(error: unknown): FittedValue | FailedCheck {
  const found = describeIssues(error)
  return found === '' ? { kind: 'failed', error: toReadableThrown(error) } : refused(found)
}

/**
 * Validates the context of a tool against its `contextSchema`. The error describes what is wrong and never contains the
 * value, which may contain keys.
 */
export async function fitContext(
  name: string,
  schema: Exclude<Tool['contextSchema'], undefined>,
  context: unknown,
): Promise<unknown> {
  const checked = await asSchema(schema).validate?.(context)
  if (checked === undefined) return context
  if (checked.success) return checked.value
  const reason = describeIssues(checked.error) || 'its schema rejected it'
  throw new TypeError(
    `The context of the tool "${name}" does not match its "contextSchema": ${reason}.`,
  )
}

const refused = (message: string): FittedValue => ({ kind: 'refused', message })
const tooDeep = refused(`They are nested deeper than ${deepestValue} levels.`)
const tooMany = refused(`They have ${tooWide}.`)

/** In one line: schemas that list issues put them into their message as several lines of JSON. Empty: it lists none. */
function describeIssues(error: unknown): string {
  try {
    // Of any Standard Schema but zod, the AI SDK has the list as the cause.
    const { issues, cause } = error as { readonly issues?: unknown; readonly cause?: unknown }
    const list: unknown = issues ?? cause
    return Array.isArray(list) ? list.map(describeIssue).join('; ') : ''
  } catch {
    // A schema may throw any value, also one whose properties cannot be read.
    return ''
  }
}

function describeIssue(issue: { readonly path?: unknown; readonly message?: unknown }): string {
  const { path, message } = issue
  const names = Array.isArray(path) ? path.map(nameOf) : []
  const place = names.length > 0 ? `${names.join('.')}: ` : ''
  return `${place}${messageOf(message) || 'is invalid'}`
}

/** An entry of a path, which in a Standard Schema may be an object with its key. */
const nameOf = (entry: unknown): string =>
  String(isJsonObject(entry) && 'key' in entry ? entry['key'] : entry)
