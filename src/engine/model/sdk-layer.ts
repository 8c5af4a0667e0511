import * as sdk from 'ai'
import {
  gateway,
  type LanguageModel,
  streamText,
  type TextStreamPart,
  type ToolSet,
  UnsupportedModelVersionError,
  wrapLanguageModel,
} from 'ai'
import { toDirectPart, toModelEnd } from './direct-part.ts'
import type { Model, ModelPart, ProviderPart, SdkModelPart } from './model-part.ts'

// Everything of the AI SDK that is experimental or internal is used in this file only, and none of it is required:
// where the installed version lacks it, calls go through `streamText` (decision 16).

/** The options of the SDK's `streamText`. */
export type StreamTextOptions = Parameters<typeof streamText>[0]
/** The function by which the SDK downloads the files of a prompt. */
export type Download = Exclude<StreamTextOptions['experimental_download'], undefined>

/** Repairs a tool call that does not fit, as in `streamText`. */
export type RepairToolCall = sdk.ToolCallRepairFunction<ToolSet>
/** The format in which the model is asked to answer, as in `streamText`. */
export type AnswerOutput = sdk.OutputInterface

/** Settings that are passed to the model unchanged. */
export type CallSettings = Pick<
  StreamTextOptions,
  | 'maxOutputTokens'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'stopSequences'
  | 'seed'
  | 'reasoning'
  | 'headers'
  | 'providerOptions'
  | 'toolChoice'
>

/** One model call, as the layers below take it. */
export interface LayerCall extends CallSettings {
  readonly model: LanguageModel
  readonly messages: sdk.ModelMessage[]
  readonly instructions?: sdk.Instructions
  readonly tools: ToolSet
  /** For tools whose description is a function of their context. */
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly toolOrder?: readonly string[]
  readonly repairToolCall?: RepairToolCall
  readonly output?: AnswerOutput
  readonly download: Download
  readonly abortSignal: AbortSignal
  /** Wraps the request to the provider. */
  readonly around?: (<Result>(work: () => PromiseLike<Result>) => PromiseLike<Result>) | undefined
}

/** The integrations that the host application has registered with `registerTelemetry`. */
export const registeredTelemetry = (): readonly sdk.Telemetry[] =>
  // Another version of the SDK in the process may have registered integrations of another type.
  (globalThis.AI_SDK_TELEMETRY_INTEGRATIONS ?? []) as readonly sdk.Telemetry[]

export interface LayeredCall {
  readonly providerParts: ReadableStreamDefaultReader<ProviderPart>
  /** What the SDK emits for one part: none, one or several. */
  translate(part: ProviderPart): Promise<readonly ModelPart[]>
  close(): void
}

/**
 * A call through the AI SDK, which converts the prompt, supports old model versions, downloads files and prepares the
 * tools. The provider's parts are read before they go through the SDK's stream: nearly all of them would pass it
 * unchanged, so that stream is created only when a part arrives that would not.
 */
export async function openLayeredCall(call: LayerCall): Promise<LayeredCall> {
  const singleCall = await findSingleCall()
  return openCall(
    call,
    singleCall === undefined ? publicLayer(call) : singleCallLayer(singleCall, call),
  )
}

/** Starts the SDK's own call of the given model; `failed` is called if the SDK fails before it calls the model. */
type Layer = (model: Model, failed: (error: unknown) => void) => OpenedLayer
interface OpenedLayer {
  /** Settles once the SDK has a stream, or has failed to create one. */
  readonly stream: Promise<ReadableStream<SdkModelPart>>
  /** Translates the parts that must not go through the SDK's stream on this path. */
  readonly translate?: (
    part: ProviderPart,
    send: (part: ProviderPart) => Promise<readonly ModelPart[]>,
  ) => Promise<readonly ModelPart[]>
}

async function openCall(call: LayerCall, layer: Layer): Promise<LayeredCall> {
  const { abortSignal: signal } = call
  const model = resolveModel(call.model)
  const opened = Promise.withResolvers<ReadableStreamDefaultReader<ProviderPart>>()
  const wanted = Promise.withResolvers<ReadableStream<ProviderPart>>()
  const { stream: made, translate } = layer(
    {
      specificationVersion: 'v4',
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(options),
      async doStream({ includeRawChunks: _, ...options }) {
        const startStream = () => model.doStream(options)
        const answer = await (call.around === undefined ? startStream() : call.around(startStream))
        const reader = answer.stream.getReader()
        opened.resolve(reader)
        if (signal.aborted) reader.cancel(signal.reason).catch(() => undefined)
        return { ...answer, stream: await wanted.promise }
      },
    },
    opened.reject,
  )
  // A model that ignores the signal may never answer.
  const giveUp = () => opened.reject(signal.reason)
  signal.addEventListener('abort', giveUp, { once: true })
  const providerParts = await opened.promise.finally(() =>
    signal.removeEventListener('abort', giveUp),
  )
  const openPipe = async (): Promise<Pipe> => {
    const pipe = Promise.withResolvers<Pipe['in']>()
    wanted.resolve(new ReadableStream({ start: pipe.resolve }))
    const stream = await made
    return { in: await pipe.promise, out: stream.getReader() }
  }
  let pipe: Promise<Pipe> | undefined
  const send = async (part: ProviderPart) => {
    pipe ??= openPipe()
    return sendThrough(await pipe, part)
  }
  return {
    providerParts,
    translate: (part) => (translate === undefined ? send(part) : translate(part, send)),
    close() {
      // The stream is no longer read, so how it ends does not matter.
      pipe?.then(({ out }) => out.cancel()).catch(() => undefined)
    },
  }
}

interface Pipe {
  readonly in: ReadableStreamDefaultController<ProviderPart>
  readonly out: ReadableStreamDefaultReader<SdkModelPart>
}

async function sendThrough(pipe: Pipe, part: ProviderPart): Promise<readonly ModelPart[]> {
  // Raw chunks pass the SDK unchanged: this one marks the end of what it emits for `part`.
  const end = Symbol('end')
  pipe.in.enqueue(part)
  pipe.in.enqueue({ type: 'raw', rawValue: end })
  const made: ModelPart[] = []
  for (;;) {
    const { done, value } = await pipe.out.read()
    if (done || (value.type === 'raw' && value.rawValue === end)) return made
    made.push(value)
  }
}

type SingleCall = typeof sdk.experimental_streamLanguageModelCall

const singleCallLayer =
  (singleCall: SingleCall, { download, around: _, ...call }: LayerCall): Layer =>
  (model, failed) => {
    const made = singleCall({
      ...call,
      model,
      download,
      allowSystemInMessages: true,
      _internal: { collectContent: false },
    })
    const stream = made.then((answer) => answer.stream)
    // The caller that waits for the model gets the error through `failed`; an unhandled rejection would end the
    // process.
    stream.then(() => failed(new Error('The model was not called.')), failed)
    return { stream }
  }

/** One step of `streamText` with tools that cannot run: documented API only, at the cost of its loop. */
const publicLayer =
  ({ download, tools, toolsContext, messages, around: _, ...call }: LayerCall): Layer =>
  (model, failed) => {
    const { stream } = streamText({
      ...call,
      model,
      // The messages are passed to the step only: the loop would execute answered approvals among its initial messages
      // itself.
      messages: [{ role: 'user', content: 'The step has its own messages.' }],
      prepareStep: () => ({ messages }),
      tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, inert(tool)])),
      // Not in the type of a tool set that does not declare its contexts.
      ...({ toolsContext } as object),
      experimental_download: download,
      allowSystemInMessages: true,
      maxRetries: 0,
      include: { rawChunks: true },
      telemetry: { isEnabled: false },
      onError: ({ error }) => failed(error),
      onAbort: () => failed(call.abortSignal.reason),
    })
    return {
      stream: Promise.resolve(stream.pipeThrough(partsOfModel())),
      async translate(part, send) {
        if (part.type === 'finish') return translateEnd(part, await send(part))
        const isText = /^(?:text|reasoning)-(?:start|delta|end)$|^response-metadata$|^stream-start$/
        const direct = isText.test(part.type) ? toDirectPart(part, tools) : undefined
        return direct === undefined ? send(part) : [direct]
      },
    }
  }

/**
 * `streamText` does not emit the finish before its step is over, only errors about it; so the finish is translated
 * here.
 */
function translateEnd(
  part: Extract<ProviderPart, { readonly type: 'finish' }>,
  faults: readonly ModelPart[],
): readonly ModelPart[] {
  const end = toModelEnd(part)
  if (end === undefined) {
    const fault = faults.find((each) => each.type === 'error')
    throw fault === undefined ? new TypeError('The end says no usage.') : fault.error
  }
  return faults.length === 0 ? [end] : [{ ...end, finishReason: 'error' }, ...faults]
}

/** A tool that is offered to the model without any function that the SDK could call. */
function inert(tool: ToolSet[string]): ToolSet[string] {
  const { execute, needsApproval, onInputStart, onInputDelta, onInputAvailable, ...rest } =
    tool as ToolSet[string] & Readonly<Record<string, unknown>>
  return rest
}

/** Removes the parts that belong to the loop of `streamText` itself. */
function partsOfModel(): TransformStream<TextStreamPart<ToolSet>, SdkModelPart> {
  return new TransformStream({
    transform(part, controller) {
      switch (part.type) {
        case 'start':
        case 'start-step':
        case 'finish-step':
        case 'finish':
        case 'abort':
        case 'tool-output-denied':
        case 'steering-message':
          return
        default:
          controller.enqueue(part)
      }
    },
  })
}

/**
 * `HOLDFAST_SDK=public` forces the public path even where the other one is available: the whole test suite is run on
 * it.
 */
const isPublicForced =
  (globalThis as { readonly process?: { readonly env?: Readonly<Record<string, unknown>> } })
    .process?.env?.['HOLDFAST_SDK'] === 'public'
let found: Promise<SingleCall | undefined> | undefined

/** The SDK's single-call layer, if the installed version has one that behaves as expected. Probed once. */
function findSingleCall(): Promise<SingleCall | undefined> {
  const { experimental_streamLanguageModelCall } = sdk as Partial<typeof sdk>
  found ??= probe(isPublicForced ? undefined : experimental_streamLanguageModelCall)
  return found
}

/** For tests: selects the path of all further calls. */
export function forceSdkPath(path: 'found' | 'public'): void {
  found = path === 'public' ? Promise.resolve(undefined) : undefined
}

/**
 * Calls a model of three parts through the function: on any deviation it is not the function that this file was written
 * for.
 */
export async function probe(singleCall: unknown): Promise<SingleCall | undefined> {
  if (typeof singleCall !== 'function') return undefined
  const mark = Symbol('mark')
  const parts: readonly ProviderPart[] = [
    { type: 'raw', rawValue: mark },
    { type: 'tool-call', toolCallId: 'c', toolName: 'absent', input: '{}' },
    {
      type: 'finish',
      finishReason: { unified: 'stop', raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined },
      },
    },
  ]
  try {
    const { stream } = await (singleCall as SingleCall)({
      model: {
        specificationVersion: 'v4',
        provider: 'holdfast.probe',
        modelId: 'probe',
        supportedUrls: {},
        doGenerate: () => Promise.reject(new Error('A probe is streamed.')),
        doStream: async () => ({
          stream: new ReadableStream({
            start(controller) {
              for (const part of parts) controller.enqueue(part)
              controller.close()
            },
          }),
        }),
      },
      messages: [{ role: 'user', content: 'probe' }],
      tools: {},
      _internal: { collectContent: false },
    })
    const made = await Array.fromAsync(stream)
    const [raw, call, , end] = made
    const isKnown =
      made.length === 4 &&
      raw?.type === 'raw' &&
      raw.rawValue === mark &&
      call?.type === 'tool-call' &&
      call.invalid === true &&
      end?.type === 'model-call-end' &&
      end.usage.outputTokens === 1
    return isKnown ? (singleCall as SingleCall) : undefined
  } catch {
    // The function has changed: calls go through the public path.
    return undefined
  }
}

const versions: readonly string[] = ['v2', 'v3', 'v4']

/** Resolved as in the SDK: a name by the default provider that the host application set, or else by the gateway. */
function resolveModel(model: LanguageModel): Model {
  if (typeof model === 'string') {
    return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) as Model
  }
  const { specificationVersion: version, provider, modelId } = model
  // Checked here, because the SDK only sees the wrapped model.
  if (!versions.includes(version)) {
    throw new UnsupportedModelVersionError({ version, provider, modelId })
  }
  return wrapLanguageModel({ model, middleware: [] })
}
