import { isJsonObject, type Json } from '../core/json.ts'
import { isTurn, type Message } from '../core/message.ts'
import { toClientJson } from './client-json.ts'

/**
 * The metadata of a message as every view shows it: a turn's choices stand in it under their name (AG2), unless the host
 * stored something there that is no object.
 */
export function shownMetadata(message: Message): Json | undefined {
  const metadata = message.metadata ?? undefined
  if (!isTurn(message) || message.choices === undefined) return toClientJson(metadata)
  const isOpen = metadata === undefined || isJsonObject(metadata)
  return toClientJson(isOpen ? { ...metadata, choices: message.choices } : metadata)
}
