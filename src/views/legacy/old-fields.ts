import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts'
import { readOldDate } from './old-date.ts'

/** The first of these fields that is there; old data spells one thing in several ways. */
export function fieldOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some) && object[some] !== null)
  return name === undefined ? undefined : object[name]
}

/** As `fieldOf`, where `null` is a value like any other. */
export function valueOf(object: JsonObject, ...names: readonly string[]): Json | undefined {
  const name = names.find((some) => Object.hasOwn(object, some))
  return name === undefined ? undefined : object[name]
}

export function textOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = fieldOf(object, ...names)
  return typeof value === 'string' ? value : undefined
}

/** Ids of old data may be numbers. */
export function idOf(object: JsonObject, ...names: readonly string[]): string | undefined {
  const value = fieldOf(object, ...names)
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function objectOf(object: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = fieldOf(object, ...names)
  return isJsonObject(value) ? value : undefined
}

export function listOf(object: JsonObject, ...names: readonly string[]): readonly Json[] {
  const value = fieldOf(object, ...names)
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

/** The parts of a message. Model messages have them as their content. */
export function partListOf(message: JsonObject): readonly Json[] {
  const parts = listOf(message, 'parts')
  return parts.length > 0 ? parts : listOf(message, 'content')
}

export const flagOf = (object: JsonObject, ...names: readonly string[]): boolean | undefined => {
  const value = fieldOf(object, ...names)
  return typeof value === 'boolean' ? value : undefined
}

/** AI SDK 5 and later have no place for a date but the app's own metadata. */
export function dateOf(object: JsonObject): number | undefined {
  const metadata = objectOf(object, 'metadata')
  return (
    readOldDate(fieldOf(object, 'createdAt', 'created_at', 'creationDate', 'creation_date')) ??
    (metadata === undefined ? undefined : readOldDate(fieldOf(metadata, 'createdAt', 'created_at')))
  )
}
