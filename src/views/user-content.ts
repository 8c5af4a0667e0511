import type { UserMessage, UserPart } from '../core/message.ts'

/** A file of a person's message. */
export type UserFile = Omit<Extract<UserPart, { readonly type: 'file' }>, 'type'>

/** The text of a person's message, for formats with one text per message. */
export const userTextOf = (message: Pick<UserMessage, 'parts'>): string =>
  message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')

export const userFilesOf = (message: Pick<UserMessage, 'parts'>): readonly UserFile[] =>
  message.parts.flatMap((part) => {
    if (part.type !== 'file') return []
    const { type, ...file } = part
    return [file]
  })
