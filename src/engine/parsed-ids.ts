import { parseCallId, parseMessageId, parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { Holdfast } from './create-holdfast.ts'

/**
 * The same, with every id that a caller gives parsed before it is used: a type does not keep a wrong string out, and one
 * that no database can keep must be refused as `bad-id` at the door, not met in the middle of a commit.
 */
export function withParsedIds(holdfast: Holdfast): Holdfast {
  return {
    ...holdfast,
    rename: async (threadId, title) => holdfast.rename(parseThreadId(threadId), title),
    async send(request) {
      parseThreadId(request.threadId)
      parseMessageId(request.message.id)
      if (request.replaces !== undefined) parseMessageId(request.replaces)
      if (request.create !== undefined) parseOwnerId(request.create.ownerId)
      return holdfast.send(request)
    },
    async regenerate(request) {
      parseThreadId(request.threadId)
      if (request.messageId !== undefined) parseMessageId(request.messageId)
      return holdfast.regenerate(request)
    },
    continue: async (threadId) => holdfast.continue(parseThreadId(threadId)),
    stop: async (threadId) => holdfast.stop(parseThreadId(threadId)),
    async decide(request) {
      parseThreadId(request.threadId)
      for (const { callId } of request.decisions) parseCallId(callId)
      return holdfast.decide(request)
    },
    async resolve(request) {
      parseThreadId(request.threadId)
      parseCallId(request.callId)
      return holdfast.resolve(request)
    },
    async addToolOutputs(threadId, outputs) {
      for (const { callId } of outputs) parseCallId(callId)
      return holdfast.addToolOutputs(parseThreadId(threadId), outputs)
    },
    subscribe: (threadId, ...rest) => holdfast.subscribe(parseThreadId(threadId), ...rest),
    modelMessages: async (threadId) => holdfast.modelMessages(parseThreadId(threadId)),
  }
}
