import { callsOf, type Turn } from '../core/message.ts'
import type { ClientToolOutput, ToolDecision } from '../engine/calls/call-requests.ts'
import type { ChatDecision, ChatOutput, ChatRequest } from '../protocol/chat-body.ts'
import { badRequest } from './http-error.ts'

/** The most decisions and results of one request that may each need a read of their own. */
export const mostAnswers = 1_000

/**
 * Refuses too many answers to calls that the turn does not have: each is looked up by itself (OP7). Those to its own calls
 * are one read together, and clients send back all that they ever gave, so their number has no limit.
 */
export function checkAnswers(
  turn: Turn,
  { decisions, outputs }: Extract<ChatRequest, { readonly kind: 'answers' }>,
): void {
  const own = new Set([...callsOf(turn)].map(({ id }) => id))
  const others = [...decisions, ...outputs].filter(({ callId }) => !own.has(callId))
  if (others.length <= mostAnswers) return
  throw badRequest(
    `The message has more than ${mostAnswers} answers to calls that are not its own.`,
  )
}

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
