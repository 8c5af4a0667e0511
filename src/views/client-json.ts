import { isJsonObject, type Json } from '../core/json.ts'

/**
 * The value without what AI SDK clients refuse: one `__proto__` key, or one `prototype` under a
 * `constructor`, anywhere in a chunk makes the client refuse the chunk and abort the stream. They are left
 * out of pages too, so that both show the same. Returns the same object if there is nothing to leave out.
 */
export function toClientJson<Value>(value: Value): Value {
  return isClean(value as Json) ? value : (clean(value as Json) as Value)
}

/** Nearly every value is clean, and is then not copied. */
function isClean(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isClean)
  if (!isJsonObject(value)) return true
  for (const key of Object.keys(value)) {
    if (key === '__proto__' || key === 'constructor' || !isClean(value[key] as Json)) return false
  }
  return true
}

function clean(value: Json): Json {
  if (Array.isArray(value)) {
    const items: readonly Json[] = value
    const cleaned = items.map(clean)
    return cleaned.some((item, index) => item !== items[index]) ? cleaned : items
  }
  if (!isJsonObject(value)) return value
  let changed = false
  const entries: [string, Json][] = []
  for (const [key, before] of Object.entries(value)) {
    const after = clean(before)
    if (key === '__proto__' || (key === 'constructor' && hasPrototype(after))) {
      changed = true
      continue
    }
    changed ||= after !== before
    entries.push([key, after])
  }
  return changed ? Object.fromEntries(entries) : value
}

const hasPrototype = (value: Json): boolean =>
  isJsonObject(value) && Object.hasOwn(value, 'prototype')
