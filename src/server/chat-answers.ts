import type { ClientToolOutput, ToolDecision } from '../engine/call-requests.ts'
import type { ChatDecision, ChatOutput } from '../protocol/chat-body.ts'

/** What a chat's body says about calls, as the library takes it. */
export const toToolDecision = ({
  callId: toolCallId,
  ...decision
}: ChatDecision): ToolDecision => ({
  ...decision,
  toolCallId,
})

export const toClientOutput = ({ callId: toolCallId, outcome }: ChatOutput): ClientToolOutput =>
  outcome.kind === 'result'
    ? { toolCallId, output: outcome.value }
    : { toolCallId, errorText: outcome.error }
