import { ApiError } from '../protocol/api-error.ts'
import type { ChatRequest } from '../protocol/chat-body.ts'

/**
 * The limit `textChars` for what a person writes. Every route by which such a text comes in calls this: a route without it
 * would be the way around it. Titles and comments have shorter limits of their own, in the library too.
 */
export function checkText(
  what: 'message' | 'feedback',
  texts: readonly (string | undefined)[],
  most: number,
): void {
  const size = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0)
  if (size <= most) return
  throw new ApiError(413, 'too-large', `The ${what} is longer than ${most} characters.`)
}

/** The same for the body of a chat: a message, or the words of a person who decides. */
export function checkChatText(chat: ChatRequest, most: number): void {
  if (chat.kind === 'send') {
    const texts = chat.message.parts.map((part) => (part.type === 'text' ? part.text : undefined))
    checkText('message', texts, most)
  }
  if (chat.kind === 'answers') {
    for (const { feedback } of chat.decisions) checkText('feedback', [feedback], most)
  }
}
