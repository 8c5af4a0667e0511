import { HoldfastError } from './holdfast-error.ts'

declare const brand: unique symbol
/**
 * A string that says what it names: an id of a message does not fit where a thread's is wanted. Any plain string does,
 * so that callers need no type of ours; every verb parses the ids that it is given before it uses them.
 */
type Branded<Name extends string> = string & { readonly [brand]?: Name }

export type ThreadId = Branded<'thread'>
/** Of a user message or of a turn; a turn's id is its message id in every format. */
export type MessageId = Branded<'message'>
/** Made by the server and unique everywhere; the provider's own id is kept beside it (LG10). */
export type CallId = Branded<'call'>
export type OwnerId = Branded<'owner'>

/** A place on a thread's own number line (LG1). 0 is before its first change. */
export type Seq = number

const longestId = 200

export const parseThreadId = (value: unknown): ThreadId => parseId(value, 'thread')
export const parseMessageId = (value: unknown): MessageId => parseId(value, 'message')
export const parseCallId = (value: unknown): CallId => parseId(value, 'call')
export const parseOwnerId = (value: unknown): OwnerId => parseId(value, 'owner')

/** Whether a value can be an id of anything. */
export function isId(value: unknown): value is string {
  try {
    parseId(value, 'value')
    return true
  } catch {
    return false
  }
}

function parseId(value: unknown, what: string): string {
  if (typeof value !== 'string' || value.length === 0 || value.length > longestId) {
    throw new HoldfastError('bad-id', `The ${what} id is a string of 1 to ${longestId} characters.`)
  }
  // A NUL cannot be stored in PostgreSQL, and a lone surrogate does not survive UTF-8.
  if (/\p{Cc}|\p{Cs}/u.test(value)) {
    throw new HoldfastError('bad-id', `The ${what} id has no control characters.`)
  }
  return value
}
