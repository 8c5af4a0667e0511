import { isTurn, type Message, type Part, type UserPart } from '../../core/message.ts'
import { isTaken } from '../agent/offered-models.ts'
import { refusedFileText } from './file-texts.ts'

/**
 * Replaces every file that the model of the turn does not accept by a text about it (AG2): such a file stays in the
 * history, accepted by another model, and this model's provider would refuse every later answer because of it (ST3b).
 */
export function inAcceptedTypes(
  messages: readonly Message[],
  accepts: readonly string[] | undefined,
): readonly Message[] {
  if (accepts === undefined) return messages
  const isRefused = ({ mediaType }: { readonly mediaType: string }) => !isTaken(mediaType, accepts)
  const toUserPart = (part: UserPart): UserPart =>
    part.type === 'file' && isRefused(part) ? { type: 'text', text: refusedFileText(part) } : part
  const toPart = (part: Part): Part => {
    if (part.type === 'steering') return { ...part, parts: part.parts.map(toUserPart) }
    if (part.type !== 'file' && part.type !== 'reasoning-file') return part
    if (!isRefused(part)) return part
    return { type: 'text', block: 'file', text: refusedFileText(part), state: 'done' }
  }
  return messages.map((message) =>
    isTurn(message)
      ? {
          ...message,
          steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(toPart) })),
        }
      : { ...message, parts: message.parts.map(toUserPart) },
  )
}
