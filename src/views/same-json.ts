import { isJsonObject, type Json } from '../core/json.ts'

/** Deep equality. An absent field and an `undefined` one are the same, as they are in JSON. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length &&
      left.every((item: Json, index) => sameJson(item, right[index] as Json))
    )
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false
  for (const key of Object.keys(left)) if (!sameJson(left[key], own(right, key))) return false
  for (const key of Object.keys(right)) {
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false
  }
  return true
}

const own = (object: { readonly [key: string]: Json }, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined
