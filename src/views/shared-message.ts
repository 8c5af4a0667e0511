import type { Call } from '../core/call.ts'
import { type Message, type Part, isTurn, type Step, type Turn } from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'

/** Replaces the names of people: only the owner of the thread may see who decided. */
const anonymous = 'owner'

/**
 * A message as every reader of the link may see it (FK5): texts, calls and results, and nothing that only its owner, the
 * host or a provider uses. Each shared field is listed here, so that a new field is not shared by default. Null: the
 * message is not shown at all.
 *
 * @param nth its position among the shared messages: readers do not see the thread's own seqs
 */
export function toSharedMessage(message: Message, nth: number): Message | null {
  const { id, createdAt } = message
  if (!isTurn(message)) {
    // System messages that came with the thread are the host's.
    if (message.role !== 'user') return null
    return { role: 'user', id, seq: nth, parts: message.parts, createdAt }
  }
  return toSharedTurn(message, nth)
}

/** The same for a turn that has ended. A turn that runs or waits is not shared: its content is not final. */
function toSharedTurn(turn: Turn, nth: number): Turn | null {
  const { role, id, createdAt, replyTo, progress, unreadable } = turn
  if (progress.status !== 'ended') return null
  const steps = turn.steps.map(toSharedStep)
  return { role, id, seq: nth, lastSeq: nth, createdAt, replyTo, progress, steps, unreadable }
}

function toSharedStep(step: Step): Step {
  const { index, startedAt } = step
  const base = withDefined(
    { index, startedAt, parts: step.parts.map(toSharedPart) },
    { model: step.model, resumedAfter: step.resumedAfter },
  )
  switch (step.status) {
    case 'open':
      return { ...base, status: 'open' }
    case 'abandoned':
      return { ...base, status: 'abandoned', endedAt: step.endedAt }
    case 'ended': {
      const { endedAt, finishReason } = step
      return { ...base, status: 'ended', endedAt, finishReason }
    }
  }
}

function toSharedPart(part: Part): Part {
  switch (part.type) {
    case 'call':
      return toSharedCall(part)
    case 'text':
    case 'reasoning': {
      const { type, block, text, state } = part
      return { type, block, text, state }
    }
    case 'steering': {
      const { type, id, parts, at } = part
      return { type, id, parts, at }
    }
    case 'source-url':
    case 'source-document':
    case 'file':
    case 'reasoning-file':
    case 'custom': {
      const { providerMetadata: _, ...shown } = part
      return shown
    }
    case 'data':
      return part
  }
}

function toSharedCall(call: Call): Call {
  const { type, id, name, step, input, approval, createdAt, decision, resolution } = call
  const base = withDefined(
    { type, id, providerCallId: id, name, step, input, approval, createdAt },
    {
      title: call.title,
      dynamic: call.dynamic,
      providerExecuted: call.providerExecuted,
      resultStep: call.resultStep,
      startedAt: call.startedAt,
      decision:
        decision === undefined
          ? undefined
          : withDefined(
              { kind: decision.kind, by: anonymous, at: decision.at, inputHash: '' },
              {
                feedback: decision.feedback,
                automatic: decision.automatic,
              },
            ),
      resolution: resolution && { kind: resolution.kind, by: anonymous, at: resolution.at },
    },
  )
  switch (call.state) {
    case 'succeeded':
      return { ...base, state: call.state, output: call.output, endedAt: call.endedAt }
    case 'failed': {
      const { state, cause, error, endedAt } = call
      return { ...base, state, cause, error, endedAt }
    }
    case 'denied': {
      const { state, cause, feedback, endedAt } = call
      return withDefined({ ...base, state, cause, endedAt }, { feedback })
    }
    case 'stopped':
      return { ...base, state: call.state, cause: call.cause, endedAt: call.endedAt }
    case 'interrupted':
      return { ...base, state: call.state, cause: call.cause, endedAt: call.endedAt }
    case 'unknown':
      return { ...base, state: call.state, cause: call.cause, endedAt: call.endedAt }
    // An ended turn has no open call; a damaged one may.
    case 'streaming':
    case 'awaiting-approval':
    case 'ready':
    case 'running':
      return { ...base, state: 'interrupted', cause: 'no-result', endedAt: createdAt }
  }
}
