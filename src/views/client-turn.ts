import type { LedgerEvent } from '../core/event.ts'
import { type Message, type Part, isTurn } from '../core/message.ts'

/**
 * A message as a client folds it: without the errors that only the model is sent (HT6). The same object if it
 * has none.
 */
export function toClientMessage<Any extends Message>(message: Any): Any {
  if (!isTurn(message)) return message
  if (!message.steps.some((step) => step.parts.some(hasModelError))) return message
  const steps = message.steps.map((step) => ({ ...step, parts: step.parts.map(withoutModelError) }))
  return { ...message, steps }
}

/** The same for an event. */
export function toClientEvent(event: LedgerEvent): LedgerEvent {
  if (event.type !== 'call-settled' || event.outcome.state !== 'failed') return event
  const { modelError, ...outcome } = event.outcome
  return modelError === undefined ? event : { ...event, outcome }
}

const hasModelError = (part: Part): boolean =>
  part.type === 'call' && part.state === 'failed' && part.modelError !== undefined

function withoutModelError(part: Part): Part {
  if (part.type !== 'call' || part.state !== 'failed') return part
  const { modelError: _, ...shown } = part
  return shown
}
