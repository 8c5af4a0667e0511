import type { ModelMessage } from 'ai'
import {
  parseCallId,
  parseMessageId,
  parseOwnerId,
  parseThreadId,
  type Seq,
  type ThreadId,
} from '../core/ids.ts'
import type { ToolOutput, ToolOutputResult } from './add-tool-outputs.ts'
import type { DecisionRequest, DecisionResult } from './decide.ts'
import type { ReadGate } from './hub.ts'
import type { Frame } from './live-window.ts'
import type { ResolveRequest, ResolveResult } from './resolve.ts'
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
  decide(request: {
    readonly threadId: ThreadId
    readonly by: string
    readonly decisions: readonly DecisionRequest[]
  }): Promise<readonly DecisionResult[]>
  resolve(request: ResolveRequest): Promise<ResolveResult>
  addToolOutputs(
    threadId: ThreadId,
    outputs: readonly ToolOutput[],
  ): Promise<readonly ToolOutputResult[]>
  subscribe(
    threadId: ThreadId,
    after: Seq,
    signal?: AbortSignal,
    gate?: ReadGate,
  ): AsyncGenerator<Frame, void>
  modelMessages(threadId: ThreadId): Promise<ModelMessage[]>
}

/**
 * The same, with every id that a caller gives parsed before it is used: a type does not keep a wrong string out, and one
 * that no database can keep must be refused as `bad-id` at the door, not met in the middle of a commit.
 */
export function withParsedIds(holdfast: IdVerbs): IdVerbs {
  return {
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
