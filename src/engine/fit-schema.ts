import { asSchema, type Tool } from 'ai'
import type { Json } from '../core/json.ts'
import { toReadableThrown } from '../core/error-text.ts'
import { deepestValue, isDeeperThan } from '../core/json-depth.ts'
import { toJson } from './to-json.ts'
import { messageOf } from './translate-part.ts'

/** A value as a schema makes it (stripped, with defaults, transformed), or why it does not fit. */
export type FittedValue =
  | { readonly kind: 'fits'; readonly value: Json }
  | { readonly kind: 'refused'; readonly message: string }

/** The schema is the host's code, and threw: its words may hold anything, and are not for whoever sent the value (HT6). */
export interface FailedCheck {
  readonly kind: 'failed'
  readonly error: unknown
}

/**
 * What a schema makes of a value that a person sent. This value, and not the one that was sent, is what is stored
 * and run: a field that the schema strips would otherwise reach the tool. To be called once for each value, for a
 * transform of what was transformed is another value.
 */
export async function fitSchema(
  schema: Exclude<Tool['inputSchema'], undefined>,
  given: Json,
): Promise<FittedValue | FailedCheck> {
  if (isDeeperThan(given, deepestValue)) return tooDeep
  try {
    const value = toJson(given)
    const checked = await asSchema(schema).validate?.(value)
    if (checked === undefined) return { kind: 'fits', value }
    if (!checked.success) return refused(describeFault(checked.error))
    return isDeeperThan(checked.value, deepestValue)
      ? tooDeep
      : { kind: 'fits', value: toJson(checked.value) }
  } catch (error) {
    // One schema that calls another throws what the other found: that is about the value.
    const found = describeIssues(error)
    return found === '' ? { kind: 'failed', error: toReadableThrown(error) } : refused(found)
  }
}

/**
 * What a tool's `contextSchema` makes of the context that is given to the tool. The error says what is wrong with it and never
 * shows the value, which may hold keys.
 */
export async function fitContext(
  name: string,
  schema: Exclude<Tool['contextSchema'], undefined>,
  context: unknown,
): Promise<unknown> {
  const checked = await asSchema(schema).validate?.(context)
  if (checked === undefined) return context
  if (checked.success) return checked.value
  const why = describeIssues(checked.error) || 'its schema refused it'
  throw new TypeError(`The context of the tool "${name}" does not fit its "contextSchema": ${why}.`)
}

const refused = (message: string): FittedValue => ({ kind: 'refused', message })
const tooDeep = refused(`They are nested deeper than ${deepestValue} levels.`)

/** In one line: schemas that list what is wrong say it in their message as several lines of JSON. */
function describeFault(error: unknown): string {
  return describeIssues(error) || messageOf(error) || 'The schema refused them and gave no reason.'
}

function describeIssues(error: unknown): string {
  try {
    const { issues } = error as { readonly issues?: unknown }
    if (!Array.isArray(issues)) return ''
    return issues.map(describeIssue).join('; ')
  } catch {
    // What a schema throws may be anything, also something that cannot be looked at.
    return ''
  }
}

function describeIssue(issue: { readonly path?: unknown; readonly message?: unknown }): string {
  const { path, message } = issue
  const place = Array.isArray(path) && path.length > 0 ? `${path.map(String).join('.')}: ` : ''
  return `${place}${messageOf(message) || 'is not what it should be'}`
}
