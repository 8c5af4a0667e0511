import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { assertNever } from '../core/assert-never.ts'
import type { Hooks, LifecycleEvent } from './hooks.ts'

type Api = typeof OpenTelemetry

/**
 * Hooks that make OpenTelemetry spans: one for each time a turn runs, and in it one for each step and
 * each call. They say what happened and how long it took, never what was said. Where
 * `@opentelemetry/api` is not installed they do nothing.
 */
export async function traceHooks(): Promise<Hooks> {
  const api = await loadApi()
  return api === null ? () => {} : createTraceHooks(api)
}

async function loadApi(): Promise<Api | null> {
  // Not a literal: a bundler would insist on a package that is optional.
  const name = '@opentelemetry/api'
  try {
    return (await import(name)) as Api
  } catch {
    // Nobody traces here.
    return null
  }
}

interface OpenTurn {
  readonly span: Span
  /** Steps and calls that are under way. */
  readonly inside: Map<string, Span>
}

function createTraceHooks(api: Api): Hooks {
  const turns = new Map<string, OpenTurn>()
  // Asked for each time: a host may set its tracer up after the engine.
  const tracer = (): Tracer => api.trace.getTracer('holdfast')

  const fail = (span: Span | undefined, type: string) => {
    span?.setAttribute('error.type', type)
    span?.setStatus({ code: api.SpanStatusCode.ERROR, message: type })
  }

  const startTurn = (event: Extract<LifecycleEvent, { readonly type: 'turn-started' }>) => {
    endTurn(keyOf(event))
    const attributes = { ...placeOf(event), 'holdfast.turn.start': event.how }
    const span = tracer().startSpan('holdfast.turn', { attributes })
    turns.set(keyOf(event), { span, inside: new Map() })
  }

  const endTurn = (key: string, attributes: Attributes = {}, errorType?: string) => {
    const turn = turns.get(key)
    if (turn === undefined) return
    turns.delete(key)
    for (const span of turn.inside.values()) span.end()
    turn.span.setAttributes(attributes)
    if (errorType !== undefined) fail(turn.span, errorType)
    turn.span.end()
  }

  const startInside = (event: EventOfTurn, id: string, name: string, more: Attributes) => {
    const turn = turns.get(keyOf(event))
    if (turn === undefined) return
    const parent = api.trace.setSpan(api.context.active(), turn.span)
    const attributes = { ...placeOf(event), ...more }
    turn.inside.set(id, tracer().startSpan(name, { attributes }, parent))
  }

  const endInside = (event: EventOfTurn, id: string, attributes: Attributes, error?: string) => {
    const inside = turns.get(keyOf(event))?.inside
    const span = inside?.get(id)
    inside?.delete(id)
    span?.setAttributes(attributes)
    if (error !== undefined) fail(span, error)
    span?.end()
  }

  return (event) => {
    switch (event.type) {
      case 'committed':
      case 'recovery-failed':
      case 'failed':
        return
      case 'turn-started':
        return startTurn(event)
      case 'turn-paused':
        return endTurn(keyOf(event), { 'holdfast.turn.waiting_for': event.waitingFor })
      case 'turn-ended':
        return endTurn(
          keyOf(event),
          { 'holdfast.turn.ending': event.ending },
          event.ending === 'failed' ? (event.error?.code ?? 'failed') : undefined,
        )
      case 'turn-handed-over':
        return endTurn(keyOf(event), { 'holdfast.turn.ending': 'handed-over' })
      case 'turn-lost':
        return endTurn(
          keyOf(event),
          { 'holdfast.turn.ending': 'lost' },
          event.error === undefined ? undefined : 'lost',
        )
      case 'step-started':
        return startInside(event, `step ${event.step}`, 'holdfast.step', {
          'holdfast.step': event.step,
        })
      case 'step-ended':
        return endInside(
          event,
          `step ${event.step}`,
          { 'holdfast.step.finish_reason': event.finishReason },
          event.finishReason === 'error' ? 'model-failed' : undefined,
        )
      case 'model-retried':
        turns.get(keyOf(event))?.span.addEvent('holdfast.model_retried', {
          'holdfast.retry.attempt': event.attempt,
          'holdfast.retry.delay_ms': event.delayMs,
          'error.type': event.code,
        })
        return
      case 'call-started':
        return startInside(event, event.callId, 'holdfast.call', {
          'holdfast.call.id': event.callId,
          'holdfast.tool.name': event.name,
        })
      case 'call-ended':
        return endInside(
          event,
          event.callId,
          { 'holdfast.call.state': event.state },
          event.state === 'failed' ? 'tool-failed' : undefined,
        )
      case 'outcome-unknown':
        turns.get(keyOf(event))?.span.addEvent('holdfast.outcome_unknown', {
          'holdfast.call.id': event.callId,
        })
        return
      case 'end-ignored':
        turns.get(keyOf(event))?.span.addEvent('holdfast.end_ignored', {
          'holdfast.call.id': event.callId,
        })
        return
      default:
        assertNever(event)
    }
  }
}

type EventOfTurn = Extract<LifecycleEvent, { readonly turnId: unknown }>

const keyOf = ({ threadId, turnId }: EventOfTurn): string => `${threadId} ${turnId}`

const placeOf = ({ threadId, turnId }: EventOfTurn): Attributes => ({
  'holdfast.thread.id': threadId,
  'holdfast.turn.id': turnId,
})
