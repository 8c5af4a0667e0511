import { isTurn, type Message, type Part, type UserPart } from '../core/message.ts'
import { isTaken } from './offered-models.ts'

/**
 * The messages with words for every file that the model of the turn does not take (AG2): such a file stands in the history
 * for good, sent to a model that took it, and the provider of this one would refuse every answer after it (ST3b).
 */
export function inAcceptedTypes(
  messages: readonly Message[],
  accepts: readonly string[] | undefined,
): readonly Message[] {
  if (accepts === undefined) return messages
  const isRefused = ({ mediaType }: { readonly mediaType: string }) => !isTaken(mediaType, accepts)
  const toUserPart = (part: UserPart): UserPart =>
    part.type === 'file' && isRefused(part) ? { type: 'text', text: wordsFor(part) } : part
  const toPart = (part: Part): Part => {
    if (part.type === 'steering') return { ...part, parts: part.parts.map(toUserPart) }
    if (part.type !== 'file' && part.type !== 'reasoning-file') return part
    if (!isRefused(part)) return part
    return { type: 'text', block: 'file', text: wordsFor(part), state: 'done' }
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

const wordsFor = (file: { readonly mediaType: string; readonly filename?: string }): string =>
  `[${file.filename ?? 'a file'} (${file.mediaType}) cannot be shown to this model]`
