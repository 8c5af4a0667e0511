import type { ClientToolOutput, ToolDecision } from '../engine/calls/call-requests.ts'
import type { ChatDecision, ChatOutput } from '../protocol/chat-body.ts'

/** Converts the decisions of a chat body to the library's format. */
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
