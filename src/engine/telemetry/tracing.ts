import type * as OpenTelemetry from '@opentelemetry/api'
import type { Attributes, Context, Link, Span, SpanContext, Tracer } from '@opentelemetry/api'
import { assertNever } from '../../core/assert-never.ts'
import { checkOptions, flag, text } from '../../core/check-options.ts'
import type { Call } from '../../core/call.ts'
import { callsOf } from '../../core/message.ts'
import type { TurnPlace } from '../call-scope.ts'
import {
  callArguments,
  callResult,
  inputMessages,
  modelAttributes,
  outputMessages,
  toFinishReasonName,
  usageAttributes,
} from './gen-ai-attributes.ts'
import type { Hooks, LifecycleEvent } from './hooks.ts'

type Api = typeof OpenTelemetry

/** The options of `traceHooks`. */
export interface TraceOptions {
  /**
   * Whether the spans contain content too: prompts, answers, and the arguments and results of calls. It may be
   * personal, and goes wherever the spans go.
   * @default false
   */
  readonly content?: boolean
  /** `gen_ai.agent.name`, also part of the name of a turn's span. @default none */
  readonly agentName?: string
}

/**
 * Hooks that create OpenTelemetry spans after the semantic conventions for generative AI: `invoke_agent` for each run
 * of a turn, and in it `chat` for each step and `execute_tool` for each call. A turn that is resumed or taken over, on
 * whatever server, continues the trace in which it began. Where `@opentelemetry/api` is not installed they do nothing.
 */
export async function traceHooks(options: TraceOptions = {}): Promise<Hooks> {
  checkOptions('traceHooks', options, { content: flag('false'), agentName: text('none') })
  const api = await loadApi()
  return api === null ? () => {} : createTraceHooks(api, options)
}

async function loadApi(): Promise<Api | null> {
  // Not a literal: a bundler would require a package that is optional.
  const name = '@opentelemetry/api'
  try {
    return (await import(name)) as Api
  } catch {
    // The package is not installed: there is no tracing.
    return null
  }
}

interface OpenTurn {
  readonly span: Span
  /** Steps and calls in flight. */
  readonly inside: Map<string, OpenPart>
}

interface OpenPart {
  readonly span: Span
  readonly startedAt: number
  /** The labels of its metrics. */
  readonly labels: Attributes
}

function createTraceHooks(api: Api, { content = false, agentName }: TraceOptions): Hooks {
  const turns = new Map<string, OpenTurn>()
  // A host application may set up its tracer after the engine: the API's proxy has no effect until then.
  const tracer: Tracer = api.trace.getTracer('holdfast')
  const meters = createMeters(api)

  const fail = (span: Span, type: string) => {
    span.setAttribute('error.type', type)
    span.setStatus({ code: api.SpanStatusCode.ERROR, message: type })
  }

  const startTurn = (place: TurnPlace, parent: Context, links: Link[]): Span => {
    endTurn(keyOf(place))
    const span = tracer.startSpan(
      agentName === undefined ? 'invoke_agent' : `invoke_agent ${agentName}`,
      {
        kind: api.SpanKind.INTERNAL,
        attributes: {
          ...placeOf(place),
          'gen_ai.operation.name': 'invoke_agent',
          // Replaced by that of the first model called, as soon as it is known.
          'gen_ai.provider.name': 'holdfast.unknown',
          'user.id': place.ownerId,
          ...(agentName !== undefined && { 'gen_ai.agent.name': agentName }),
        },
        links,
      },
      parent,
    )
    turns.set(keyOf(place), { span, inside: new Map() })
    return span
  }

  /** A turn that was opened when it was stored has its span; any other continues the trace in which it began. */
  const onTurnStarted = (event: EventOf<'turn-started'>) => {
    const opened = event.how === 'sent' ? turns.get(keyOf(event))?.span : undefined
    const span = opened ?? resumeTrace(event)
    span.setAttribute('holdfast.turn.start', event.how)
  }

  const resumeTrace = (event: EventOf<'turn-started'>): Span => {
    const active = api.context.active()
    const origin = parseTraceparent(event.trace)
    if (origin === undefined) return startTurn(event, active, [])
    // The request that resumed it belongs to another trace; a takeover has none.
    const cause = api.trace.getSpanContext(active)
    const links = [origin, ...(cause === undefined ? [] : [cause])].map((context) => ({ context }))
    return startTurn(event, api.trace.setSpanContext(api.ROOT_CONTEXT, origin), links)
  }

  const endTurn = (key: string, attributes: Attributes = {}, errorType?: string) => {
    const turn = turns.get(key)
    if (turn === undefined) return
    turns.delete(key)
    for (const { span } of turn.inside.values()) span.end()
    turn.span.setAttributes(attributes)
    if (errorType !== undefined) fail(turn.span, errorType)
    turn.span.end()
  }

  const startInside = (
    event: TurnPlace,
    id: string,
    name: string,
    kind: OpenTelemetry.SpanKind,
    labels: Attributes,
    more: Attributes,
  ) => {
    const turn = turns.get(keyOf(event))
    if (turn === undefined) return
    const parent = api.trace.setSpan(api.context.active(), turn.span)
    const attributes = { ...placeOf(event), 'user.id': event.ownerId, ...labels, ...more }
    const span = tracer.startSpan(name, { kind, attributes }, parent)
    turn.inside.set(id, { span, startedAt: performance.now(), labels })
  }

  const endInside = (event: TurnPlace, id: string, attributes: Attributes, error?: string) => {
    const inside = turns.get(keyOf(event))?.inside
    const part = inside?.get(id)
    if (part === undefined) return
    inside?.delete(id)
    part.span.setAttributes(attributes)
    if (error !== undefined) fail(part.span, error)
    part.span.end()
    const seconds = (performance.now() - part.startedAt) / 1_000
    const labels = { ...part.labels, ...(error !== undefined && { 'error.type': error }) }
    meters().duration.record(seconds, labels)
  }

  const onStepStarted = (event: EventOf<'step-started'>) => {
    const { step, modelId } = event
    const model = modelAttributes(event)
    turns.get(keyOf(event))?.span.setAttributes(model)
    const labels = { 'gen_ai.operation.name': 'chat', ...model }
    const name = modelId === '' ? 'chat' : `chat ${modelId}`
    startInside(event, `step ${step}`, name, api.SpanKind.CLIENT, labels, {
      'gen_ai.request.stream': true,
      'holdfast.step': step,
    })
  }

  const onStepEnded = (event: EventOf<'step-ended'>) => {
    const { step, finishReason, usage, model } = event
    const id = `step ${step}`
    const labels = turns.get(keyOf(event))?.inside.get(id)?.labels
    const stepContent = event.turn?.().steps[step]
    const hasFailed = finishReason === 'error'
    endInside(
      event,
      id,
      {
        'gen_ai.response.finish_reasons': [toFinishReasonName(finishReason)],
        ...(model !== undefined && { 'gen_ai.response.model': model }),
        ...usageAttributes(usage),
        ...(content && inputMessages(event.prompt?.() ?? [])),
        ...(content && stepContent !== undefined && outputMessages(stepContent, finishReason)),
      },
      hasFailed ? 'model-failed' : undefined,
    )
    if (labels === undefined) return
    const { tokens } = meters()
    const count = (type: string, value: number | undefined) => {
      if (value !== undefined) tokens.record(value, { ...labels, 'gen_ai.token.type': type })
    }
    count('input', usage?.inputTokens)
    count('output', usage?.outputTokens)
  }

  const findCall = (event: EventOf<'call-started' | 'call-ended'>): Call | undefined => {
    const turn = content ? event.turn?.() : undefined
    return turn && [...callsOf(turn)].find(({ id }) => id === event.callId)
  }

  const onCallStarted = (event: EventOf<'call-started'>) => {
    const { callId, name } = event
    const call = findCall(event)
    const labels = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }
    startInside(event, callId, `execute_tool ${name}`, api.SpanKind.INTERNAL, labels, {
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      ...(call !== undefined && callArguments(call)),
    })
  }

  const onEvent = (event: LifecycleEvent): void => {
    switch (event.type) {
      case 'committed':
      case 'feedback-given':
      case 'recovery-failed':
      case 'failed':
      case 'title-made':
        return
      case 'turn-started':
        return onTurnStarted(event)
      case 'turn-paused':
        return endTurn(keyOf(event), { 'holdfast.turn.waiting_for': event.waitingFor })
      case 'turn-ended':
        return endTurn(
          keyOf(event),
          { 'holdfast.turn.ending': event.ending, ...usageAttributes(event.totals.usage) },
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
        return onStepStarted(event)
      case 'step-ended':
        return onStepEnded(event)
      case 'model-retried':
        turns.get(keyOf(event))?.span.addEvent('holdfast.model_retried', {
          'holdfast.retry.attempt': event.attempt,
          'holdfast.retry.delay_ms': event.delayMs,
          'error.type': event.code,
        })
        return
      case 'model-replaced':
        turns.get(keyOf(event))?.span.addEvent('holdfast.model_replaced', {
          'gen_ai.request.model': event.model,
          'holdfast.replaced_by': event.by,
          'error.type': event.code,
        })
        return
      case 'call-started':
        return onCallStarted(event)
      case 'call-ended': {
        const { callId, state, outcome } = event
        return endInside(
          event,
          callId,
          {
            'holdfast.call.state': state,
            ...(content && outcome !== undefined && callResult(outcome())),
          },
          state === 'failed' ? 'tool-failed' : undefined,
        )
      }
      case 'outcome-unknown':
        turns.get(keyOf(event))?.span.addEvent('holdfast.outcome_unknown', {
          'gen_ai.tool.call.id': event.callId,
        })
        return
      case 'end-ignored':
        turns.get(keyOf(event))?.span.addEvent('holdfast.end_ignored', {
          'gen_ai.tool.call.id': event.callId,
        })
        return
      default:
        assertNever(event)
    }
  }

  return Object.assign(onEvent, {
    openTrace(place: TurnPlace) {
      const span = startTurn(place, api.context.active(), [])
      return {
        traceparent: toTraceparent(span.spanContext()),
        // A span that is never ended is never exported: the turn was not stored.
        discard: () => void turns.delete(keyOf(place)),
      }
    },
    inside<Result>(part: Parameters<Exclude<Hooks['inside'], undefined>>[0], work: () => Result) {
      const id = 'callId' in part ? part.callId : `step ${part.step}`
      const open = turns.get(keyOf(part))?.inside.get(id)
      if (open === undefined) return work()
      return api.context.with(api.trace.setSpan(api.context.active(), open.span), work)
    },
  })
}

/** The metrics beside the spans; created again when the host application has set up another meter provider. */
function createMeters({ metrics }: Api) {
  const open = () => {
    const provider = metrics.getMeterProvider()
    const meter = provider.getMeter('holdfast')
    const histogram = (name: string, unit: string) => meter.createHistogram(name, { unit })
    return {
      provider,
      duration: histogram('gen_ai.client.operation.duration', 's'),
      tokens: histogram('gen_ai.client.token.usage', '{token}'),
    }
  }
  let meters = open()
  return () => {
    if (meters.provider !== metrics.getMeterProvider()) meters = open()
    return meters
  }
}

type EventOf<Type> = Extract<LifecycleEvent, { readonly type: Type }>

const keyOf = ({ threadId, turnId }: TurnPlace): string => `${threadId} ${turnId}`

const placeOf = ({ threadId, turnId }: TurnPlace): Attributes => ({
  'gen_ai.conversation.id': threadId,
  'holdfast.turn.id': turnId,
})

const toTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`

function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const match = /^00-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})$/.exec(text ?? '')
  if (match === null) return undefined
  const [, traceId = '', spanId = '', flags = ''] = match
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true }
}
