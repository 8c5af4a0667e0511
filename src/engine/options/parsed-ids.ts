import type { ModelMessage } from 'ai'
import { parseMessageId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { busyWords } from '../../protocol/chat-body.ts'
import { checkNames, checkWord, isObject } from './check-names.ts'
import type { FollowedPlace, ReadGate } from '../follow/hub.ts'
import type { Frame } from '../follow/live-window.ts'
import type { AnswerMethods } from '../calls/call-requests.ts'
import type { SendResult } from '../input/begin-answer.ts'
import type { RegenerateRequest } from '../input/regenerate.ts'
import type { SendRequest } from '../input/send.ts'
import type { StopResult } from '../run/stop.ts'
import type { ThreadScope } from '../thread-scope.ts'
import { badRequestFault } from '../../core/holdfast-error.ts'

/** The methods that get ids from callers and do not validate them. */
interface IdVerbs extends Pick<AnswerMethods, 'continue'> {
  rename(threadId: ThreadId, title: string): Promise<boolean>
  send(request: SendRequest): Promise<SendResult>
  regenerate(request: RegenerateRequest): Promise<SendResult>
  stop(threadId: ThreadId, scope?: ThreadScope): Promise<StopResult>
  subscribe(
    threadId: ThreadId,
    after: FollowedPlace,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  modelMessages(threadId: ThreadId): Promise<ModelMessage[]>
}

/**
 * The same methods, with names and every id validated first: types do not keep out an invalid string, and one that a
 * database cannot store must be refused as `bad-id` on entry, not in the middle of a commit.
 */
export function withParsedIds(holdfast: IdVerbs): IdVerbs {
  return {
    rename: async (threadId, title) => holdfast.rename(parseThreadId(threadId), title),
    async send(request) {
      checkNames('send', request, [
        ...([
          'threadId',
          'message',
          'choices',
          'whenBusy',
          'replaces',
          'create',
          'ownerId',
        ] as const),
      ])
      const { create, whenBusy } = request
      if (whenBusy !== undefined) checkWord('whenBusy', whenBusy, busyWords)
      if (create !== undefined) {
        checkNames('create of send', create, ['ownerId', 'title', 'isPlaceholder'])
      }
      parseThreadId(request.threadId)
      checkMessage(request.message)
      if (request.replaces !== undefined) parseMessageId(request.replaces)
      if (create !== undefined) parseOwnerId(create.ownerId)
      const ownerId = ownerOf(request.ownerId)
      if (create !== undefined && ownerId !== undefined && create.ownerId !== ownerId) {
        throw badRequestFault('"ownerId" and that of "create" are not the same.')
      }
      return holdfast.send(request)
    },
    async regenerate(request) {
      checkNames('regenerate', request, ['threadId', 'messageId', 'choices', 'whenBusy', 'ownerId'])
      const { whenBusy } = request
      if (whenBusy !== undefined) checkWord('whenBusy', whenBusy, ['interrupt', 'reject'])
      parseThreadId(request.threadId)
      if (request.messageId !== undefined) parseMessageId(request.messageId)
      ownerOf(request.ownerId)
      return holdfast.regenerate(request)
    },
    continue: async (threadId, ...rest) => holdfast.continue(parseThreadId(threadId), ...rest),
    stop: async (threadId, scope) => holdfast.stop(parseThreadId(threadId), scope),
    subscribe: (threadId, ...rest) => holdfast.subscribe(parseThreadId(threadId), ...rest),
    modelMessages: async (threadId) => holdfast.modelMessages(parseThreadId(threadId)),
  }
}

const ownerOf = (ownerId: string | undefined): string | undefined =>
  ownerId === undefined ? undefined : parseOwnerId(ownerId)

/** Additional fields are allowed: clients pass on messages as they received them. */
function checkMessage(message: unknown): void {
  if (!isObject(message)) throw badRequestFault('"message" is a message with "parts".')
  if (message['id'] !== undefined) parseMessageId(message['id'])
  if (!Array.isArray(message['parts'])) {
    throw badRequestFault('A message has "parts": [{ type: "text", text: "…" }].')
  }
  if (!message['parts'].every(isObject)) throw badRequestFault('A part of a message is an object.')
}
