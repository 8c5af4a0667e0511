import { isJsonObject, type JsonObject } from './json.ts'

/**
 * What a provider attached to a part, as clients of the AI SDK accept it: an object for each provider. One other value in it
 * makes such a client refuse the chunk and end its stream. Undefined if nothing is left.
 */
export function toProviderMetadata(given: JsonObject | undefined): JsonObject | undefined {
  if (given === undefined || Object.values(given).every(isJsonObject)) return given
  const sound = Object.entries(given).filter(([, value]) => isJsonObject(value))
  return sound.length === 0 ? undefined : Object.fromEntries(sound)
}
