import type { Telemetry, TelemetryOptions } from 'ai'
import { callSafely, type LifecycleEvents, type LifecycleListener } from './lifecycle-callbacks.ts'
import type { ReportFault } from '../run/failure-texts.ts'
import { registeredTelemetry } from '../model/sdk-layer.ts'

type Fields = Readonly<Record<string, unknown>>

/** The integrations that the agent names, or else the registered ones, as in `streamText`. */
export function integrationsOf(
  telemetry: TelemetryOptions | undefined,
  onFault: ReportFault,
): readonly LifecycleListener[] {
  if (telemetry?.isEnabled === false) return []
  const given = telemetry?.integrations ?? registeredTelemetry()
  const integrations: readonly Telemetry[] = Array.isArray(given) ? given : [given]
  return integrations.map((integration) => toListener(integration, telemetry ?? {}, onFault))
}

/** Adapts an integration of the SDK, with the content that it may not record removed. */
function toListener(
  integration: Telemetry,
  options: TelemetryOptions,
  onFault: ReportFault,
): LifecycleListener {
  const { recordInputs, recordOutputs, functionId } = options
  const toEvent = (event: object) => ({
    ...withoutHidden(event as Fields, options),
    recordInputs,
    recordOutputs,
    functionId,
  })
  const methodOf = (name: keyof LifecycleEvents) =>
    integration[name] ?? (name === 'onStepEnd' ? integration.onStepFinish : undefined)
  return {
    isPerRun: true,
    notify: (name, event) =>
      callSafely(
        (payload: never) => methodOf(name)?.call(integration, payload),
        toEvent(event) as never,
        (thrown) => onFault(`telemetry.${name}`, thrown),
      ),
    inModelCall: (call, execute) =>
      integration.executeLanguageModelCall?.({
        ...(toEvent(call) as object),
        callId: call.callId,
        execute,
      }) ?? execute(),
    inTool: (call, execute) =>
      integration.executeTool?.({
        ...(toEvent(call) as object),
        callId: call.callId,
        toolCallId: call.toolCall.toolCallId,
        execute,
      }) ?? execute(),
  }
}

/** The replacements for content that is not to be recorded. */
const inputs: Fields = {
  instructions: undefined,
  messages: [],
  tools: undefined,
  output: undefined,
  providerOptions: {},
  headers: undefined,
  request: {},
}
const outputs: Fields = {
  content: [],
  text: '',
  reasoning: [],
  reasoningText: undefined,
  files: [],
  sources: [],
  toolCalls: [],
  staticToolCalls: [],
  dynamicToolCalls: [],
  toolResults: [],
  staticToolResults: [],
  dynamicToolResults: [],
  responseMessages: [],
  response: {},
}

/** Contexts only as far as they are named, and content unless it is switched off: the SDK's own rules. */
function withoutHidden(event: Fields, options: TelemetryOptions): Fields {
  const hidesInputs = options.recordInputs === false
  const hidesOutputs = options.recordOutputs === false
  const shown: Record<string, unknown> = { ...event }
  const blank = (blanks: Fields) => {
    for (const name of Object.keys(blanks)) if (name in shown) shown[name] = blanks[name]
  }
  if (hidesInputs) blank(inputs)
  if (hidesOutputs) blank(outputs)
  if (hidesInputs || hidesOutputs) {
    blank({ providerMetadata: undefined })
    if (shown['error'] != null) shown['error'] = new Error('The operation failed.')
  }
  for (const name of ['toolCall', 'toolOutput'] as const) {
    const part = shown[name] as Fields | undefined
    if (part === undefined) continue
    shown[name] = {
      ...part,
      ...(hidesInputs ? { input: undefined } : {}),
      ...(hidesOutputs && 'output' in part ? { output: undefined } : {}),
      ...((hidesInputs || hidesOutputs) && 'error' in part
        ? { error: new Error('The operation failed.') }
        : {}),
    }
  }
  hideContexts(shown, event, options)
  if (Array.isArray(shown['steps'])) {
    shown['steps'] = shown['steps'].map((step: Fields) => withoutHidden(step, options))
  }
  const { finalStep } = shown
  if (finalStep !== undefined) shown['finalStep'] = withoutHidden(finalStep as Fields, options)
  return shown
}

function hideContexts(
  shown: Record<string, unknown>,
  event: Fields,
  { includeRuntimeContext, includeToolsContext }: TelemetryOptions,
): void {
  const ofTools = includeToolsContext as Readonly<Record<string, Fields>> | undefined
  if ('runtimeContext' in event) {
    shown['runtimeContext'] = only(event['runtimeContext'], includeRuntimeContext)
  }
  if ('toolsContext' in event) {
    const contexts = Object.entries((event['toolsContext'] ?? {}) as Fields)
    shown['toolsContext'] = Object.fromEntries(
      ofTools === undefined
        ? []
        : contexts.map(([name, context]) => [name, only(context, ofTools[name])]),
    )
  }
  if ('toolContext' in event) {
    const { toolName } = event['toolCall'] as { readonly toolName: string }
    shown['toolContext'] = only(event['toolContext'], ofTools?.[toolName])
  }
}

const only = (context: unknown, included: Fields | undefined): Fields =>
  typeof context === 'object' && context !== null
    ? Object.fromEntries(Object.entries(context).filter(([name]) => included?.[name] === true))
    : {}
