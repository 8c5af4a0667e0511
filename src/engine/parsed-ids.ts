import type { ModelMessage } from 'ai'
import {
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
  type ThreadId,
} from '../core/ids.ts'
import { busyWords } from '../protocol/chat-body.ts'
import { checkNames, checkWord } from './check-names.ts'
import type { ReadGate } from './hub.ts'
import type { Frame } from './live-window.ts'
import type { ContinueResult } from './resume.ts'
import type { RegenerateRequest, SendRequest, SendResult } from './send.ts'
import type { StopResult } from './stop.ts'

/** The verbs that are given ids by callers and do not look at them. */
interface IdVerbs {
  rename(threadId: ThreadId, title: string): Promise<boolean>
  send(request: SendRequest): Promise<SendResult>
  regenerate(request: RegenerateRequest): Promise<SendResult>
  continue(threadId: ThreadId): Promise<ContinueResult>
  stop(threadId: ThreadId): Promise<StopResult>
  subscribe(
    threadId: ThreadId,
    after: Seq,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  modelMessages(threadId: ThreadId): Promise<ModelMessage[]>
}

/**
 * The same, with names, words and every id that a caller gives checked before they are used: a type does not keep a wrong
 * string out, and one that no database can keep must be refused as `bad-id` at the door, not met in the middle of a commit.
 */
export function withParsedIds(holdfast: IdVerbs): IdVerbs {
  return {
    rename: async (threadId, title) => holdfast.rename(parseThreadId(threadId), title),
    async send(request) {
      checkNames('send', request, [
        ...(['threadId', 'message', 'choices', 'whenBusy', 'replaces', 'create'] as const),
      ])
      const { create, whenBusy } = request
      if (whenBusy !== undefined) checkWord('whenBusy', whenBusy, busyWords)
      if (create !== undefined) {
        checkNames('create of send', create, ['ownerId', 'title', 'isPlaceholder'])
      }
      parseThreadId(request.threadId)
      parseMessageId(request.message.id)
      if (request.replaces !== undefined) parseMessageId(request.replaces)
      if (create !== undefined) parseOwnerId(create.ownerId)
      return holdfast.send(request)
    },
    async regenerate(request) {
      checkNames('regenerate', request, ['threadId', 'messageId', 'choices', 'whenBusy'])
      const { whenBusy } = request
      if (whenBusy !== undefined) checkWord('whenBusy', whenBusy, ['interrupt', 'reject'])
      parseThreadId(request.threadId)
      if (request.messageId !== undefined) parseMessageId(request.messageId)
      return holdfast.regenerate(request)
    },
    continue: async (threadId) => holdfast.continue(parseThreadId(threadId)),
    stop: async (threadId) => holdfast.stop(parseThreadId(threadId)),
    subscribe: (threadId, ...rest) => holdfast.subscribe(parseThreadId(threadId), ...rest),
    modelMessages: async (threadId) => holdfast.modelMessages(parseThreadId(threadId)),
  }
}
