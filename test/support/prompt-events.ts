import type { CallOrigin, CallOutcome } from '../../src/core/call.ts'
import type { TurnEventBody } from '../../src/core/event.ts'
import { parseCallId, parseMessageId } from '../../src/core/ids.ts'
import type { Json } from '../../src/core/json.ts'
import type { Message, Turn, UserPart } from '../../src/core/message.ts'
import type { FinishReason } from '../../src/core/usage.ts'
import { projectPrompt } from '../../src/views/model-prompt.ts'

export const user = (...parts: readonly (string | UserPart)[]): Message => ({
  role: 'user',
  id: parseMessageId('user'),
  seq: 1,
  parts: parts.map((part) => (typeof part === 'string' ? { type: 'text', text: part } : part)),
  createdAt: 0,
})

export const begin: TurnEventBody = { type: 'step-started', step: 0 }
export const over = (finishReason: FinishReason = 'tool-calls'): TurnEventBody => ({
  type: 'step-ended',
  finishReason,
})
export const textEvents = (
  block: string,
  delta: string,
  kind: 'text' | 'reasoning' = 'text',
): TurnEventBody[] => [
  { type: 'text-started', block, kind, providerMetadata: { demo: { itemId: `item-${block}` } } },
  { type: 'text-appended', block, delta },
  { type: 'text-ended', block },
]
export const callId = parseCallId('c1')
export const origin: CallOrigin = { id: callId, providerCallId: 'call_1', name: 'weather' }
export const record = (
  call: Partial<CallOrigin> = {},
  input: Json = { city: 'Oslo' },
  approval: 'required' | 'not-required' = 'not-required',
): TurnEventBody => {
  const whole = { ...origin, ...call }
  return { type: 'call-recorded', callId: whole.id, call: whole, input, approval }
}
export const settle = (outcome: CallOutcome, id = callId): TurnEventBody => ({
  type: 'call-settled',
  callId: id,
  outcome,
})
export const succeeded = (value: Json, modelOutput?: Json): CallOutcome => ({
  state: 'succeeded',
  output: { kind: 'inline', value },
  ...(modelOutput === undefined ? {} : { modelOutput }),
})
export const promptOf = (turn: Turn, maxOutputChars?: number) =>
  projectPrompt([user('Hi'), turn], maxOutputChars === undefined ? {} : { maxOutputChars })
export const resultOf = (turn: Turn, maxOutputChars?: number) => {
  const message = promptOf(turn, maxOutputChars).at(-1)
  const [result] = message?.role === 'tool' ? message.content : []
  return result?.type === 'tool-result' ? result.output : undefined
}
export const callOf = (turn: Turn) => {
  const message = promptOf(turn).find(({ role }) => role === 'assistant')
  return message?.role === 'assistant'
    ? message.content.find((part) => part.type === 'tool-call')
    : undefined
}
