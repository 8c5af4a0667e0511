import { HoldfastError } from './holdfast-error.ts'

declare const brand: unique symbol
/**
 * A string whose type names what it identifies: a message id does not fit where a thread id is expected. A
 * plain string fits everywhere, so that callers need no types of Holdfast's; every verb parses its ids before
 * it uses them.
 */
type Branded<Name extends string> = string & { readonly [brand]?: Name }

/** The id of a thread: chosen by the client, the host or the server, and globally unique. */
export type ThreadId = Branded<'thread'>
/** Of a user message or of a turn; a turn's id is its message id in every format. */
export type MessageId = Branded<'message'>
/** Made by the server and unique everywhere; the provider's own id is kept beside it (LG10). */
export type CallId = Branded<'call'>
/** The id of a thread's owner, as the host's authentication returns it. */
export type OwnerId = Branded<'owner'>

/** A position on a thread's own number line (LG1). 0 is before its first change. */
export type Seq = number

const longestId = 200

/** Returns the value as a thread id. Throws a `HoldfastError` with `bad-id` if it is not one. */
export const parseThreadId = (value: unknown): ThreadId => parsePathId(value, 'thread')
/** The same for reading and deleting: a thread from before 0.3 may have an id that no new one gets. */
export const parseStoredThreadId = (value: unknown): ThreadId => parseId(value, 'thread')
/** Returns the value as a message id. Throws a `HoldfastError` with `bad-id` if it is not one. */
export const parseMessageId = (value: unknown): MessageId => parsePathId(value, 'message')
/** Returns the value as a call id. Throws a `HoldfastError` with `bad-id` if it is not one. */
export const parseCallId = (value: unknown): CallId => parsePathId(value, 'call')
/** Returns the value as an owner id. Throws a `HoldfastError` with `bad-id` if it is not one. */
export const parseOwnerId = (value: unknown): OwnerId => parseId(value, 'owner')

/** Whether a value can be an id of anything. */
export const isId = (value: unknown): value is string => findFault(value) === undefined

/** Whether a value can be the id of a message. */
export const isMessageId = (value: unknown): value is MessageId =>
  findPathFault(value) === undefined

const parseId = (value: unknown, what: string): string => parse(value, what, findFault(value))
const parsePathId = (value: unknown, what: string): string =>
  parse(value, what, findPathFault(value))

function parse(value: unknown, what: string, fault: string | undefined): string {
  if (fault !== undefined) throw new HoldfastError('bad-id', `The ${what} id ${fault}.`)
  return value as string
}

/** An id that stands in addresses, where every client removes the segments `.` and `..`, encoded ones too. */
const findPathFault = (value: unknown): string | undefined =>
  findFault(value) ?? (value === '.' || value === '..' ? 'is not "." or ".."' : undefined)

/** The end of the sentence that says why a value is no id. */
function findFault(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length === 0 || value.length > longestId) {
    return `must be a string of 1 to ${longestId} characters`
  }
  // A NUL cannot be stored in PostgreSQL, and a lone surrogate does not survive UTF-8.
  return /\p{Cc}|\p{Cs}/u.test(value) ? 'must not contain control characters' : undefined
}
