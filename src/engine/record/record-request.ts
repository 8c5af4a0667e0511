import {
  badOption,
  checkOptions,
  describeValue,
  type OptionRule,
  type OptionTable,
  record,
  text,
} from '../../core/check-options.ts'
import { isId, type MessageId, type ThreadId } from '../../core/ids.ts'
import { closeSource, type RecordedLoop, type RecordedSource } from './recorded-parts.ts'
import type { NamedSendRequest } from '../input/send.ts'
import { isObject } from '../options/check-names.ts'
import type { ThreadScope } from '../thread-scope.ts'

/** Continues a turn that the host application's loop began: it waited, or was broken off. */
export interface ContinueRecording extends ThreadScope {
  readonly threadId: ThreadId
  /** The thread's last turn. */
  readonly continue: MessageId
  /**
   * The assistant's message as the client sent it back: approvals and results of the client's tools in it are stored,
   * and `toResponse` sends only what the client does not have.
   */
  readonly message?: unknown
  /** Stored as the decider of calls that the stream shows as decided. @default 'host' */
  readonly by?: string
}

/** A message whose answer is recorded. It cannot be queued: the answer exists already. */
export type RecordedMessage = Omit<NamedSendRequest, 'whenBusy'>

/** The second argument of `record`: a message to answer, or a turn to continue. */
export type RecordRequest = RecordedMessage | ContinueRecording

/** `continue: undefined` counts as absent. */
export const isContinuation = (request: RecordRequest): request is ContinueRecording =>
  'continue' in request && request.continue !== undefined

const idRule = (byDefault?: string): OptionRule => {
  const range = 'a string of 1 to 200 characters without control characters'
  return byDefault === undefined ? { range, fits: isId } : { range, fits: isId, default: byDefault }
}

/** `record`, with a message that is to be answered. A message may have more fields than are stored. */
export const recordMessageRules: OptionTable<RecordedMessage> = {
  threadId: idRule(),
  message: {
    range: 'a message with an id and a list of parts',
    fits: (value) => isObject(value) && isId(value['id']) && Array.isArray(value['parts']),
  },
  choices: { range: 'JSON that fits the option `choices`', fits: () => true, default: 'none' },
  replaces: idRule('none'),
  ownerId: idRule('any owner'),
  create: {
    range: 'an object with the ownerId of the thread, and perhaps its title',
    fits: (value) =>
      isObject(value) &&
      isId(value['ownerId']) &&
      (value['title'] === undefined || typeof value['title'] === 'string'),
    default: 'none: the thread must be there',
  },
}

/** `record`, with a turn that is continued. */
export const recordContinueRules: OptionTable<ContinueRecording> = {
  threadId: idRule(),
  continue: idRule(),
  message: record('the assistant’s message as the client sent it', 'none'),
  by: text('"host"'),
  ownerId: idRule('any owner'),
}

const otherNames = {
  id: 'threadId',
  chatId: 'threadId',
  messageId: 'replaces',
  messages: 'message',
  title: 'create',
  turnId: 'continue',
  decidedBy: 'by',
}

/** The arguments of `record` are checked before anything is stored or read. */
export function checkRecord(source: RecordedSource | RecordedLoop, request: RecordRequest): void {
  if (typeof source !== 'function' && !isSource(source)) throw notASource(source)
  try {
    if (!isObject(request)) checkOptions<RecordRequest>('record', request, recordMessageRules)
    else if (isContinuation(request)) {
      checkOptions('record', request, recordContinueRules, otherNames)
    } else {
      const { continue: _, ...rest } = request as RecordedMessage & {
        readonly continue?: undefined
      }
      checkOptions<RecordedMessage>('record', rest, recordMessageRules, otherNames)
    }
  } catch (error) {
    // The source will not be read: its producer is cancelled.
    closeSource(source)
    throw error
  }
}

export const notASource = (source: unknown): Error =>
  badOption(
    `record takes a stream, such as result.stream of a streamText, or a function that returns one, not ${describeValue(source)}.`,
  )

export const isSource = (source: unknown): source is RecordedSource =>
  typeof source === 'object' &&
  source !== null &&
  typeof (source as Partial<RecordedSource>)[Symbol.asyncIterator] === 'function'
