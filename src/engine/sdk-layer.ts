import {
  experimental_streamLanguageModelCall,
  gateway,
  type LanguageModel,
  type LanguageModelStreamPart,
  type ToolSet,
  UnsupportedModelVersionError,
  wrapLanguageModel,
} from 'ai'

export type Part = LanguageModelStreamPart<ToolSet>

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type ModelStream = Awaited<ReturnType<Model['doStream']>>['stream']
/** What a provider says, before the SDK has made anything of it. */
export type ProviderPart = ModelStream extends ReadableStream<infer Said> ? Said : never

export type LayerCall = Parameters<typeof experimental_streamLanguageModelCall>[0]

export interface LayeredCall {
  readonly said: ReadableStreamDefaultReader<ProviderPart>
  /** What the SDK makes of one part: none, one or several. */
  translate(part: ProviderPart): Promise<readonly Part[]>
  close(): void
}

/**
 * A call through the AI SDK's single-call layer, which converts the prompt, speaks to old model
 * versions, downloads files and prepares the tools; but what the provider says is read before it goes
 * through the layer's stream. Nearly all of it is pieces of text that the layer hands on as they are.
 */
export async function openLayeredCall(call: LayerCall): Promise<LayeredCall> {
  const model = resolveModel(call.model)
  let said: ReadableStreamDefaultReader<ProviderPart> | undefined
  let way: ReadableStreamDefaultController<ProviderPart> | undefined
  const { stream } = await experimental_streamLanguageModelCall({
    ...call,
    model: {
      specificationVersion: 'v4',
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(options),
      async doStream(options) {
        const answer = await model.doStream(options)
        said = answer.stream.getReader()
        const through = new ReadableStream<ProviderPart>({
          start(controller) {
            way = controller
          },
        })
        return { ...answer, stream: through }
      },
    },
  })
  if (said === undefined || way === undefined) throw new Error('The model was not called.')
  return { said, ...openWay(way, stream.getReader()) }
}

function openWay(
  way: ReadableStreamDefaultController<ProviderPart>,
  out: ReadableStreamDefaultReader<Part>,
): Omit<LayeredCall, 'said'> {
  return {
    async translate(part) {
      // Raw chunks come out as they went in: this one tells where the answer to `part` is over.
      const end = Symbol('end')
      way.enqueue(part)
      way.enqueue({ type: 'raw', rawValue: end })
      const made: Part[] = []
      for (;;) {
        const { done, value } = await out.read()
        if (done || (value.type === 'raw' && value.rawValue === end)) return made
        made.push(value)
      }
    },
    close() {
      // Nobody reads it any more, so nobody misses how it ends.
      out.cancel().catch(() => undefined)
    },
  }
}

const versions: readonly string[] = ['v2', 'v3', 'v4']

/** As the SDK finds it: by its name from the provider that the host set, or else from the gateway. */
function resolveModel(model: LanguageModel): Model {
  if (typeof model === 'string') {
    return (globalThis.AI_SDK_DEFAULT_PROVIDER ?? gateway).languageModel(model) as Model
  }
  const { specificationVersion: version, provider, modelId } = model
  // Said here, because the layer is given a model of ours.
  if (!versions.includes(version)) {
    throw new UnsupportedModelVersionError({ version, provider, modelId })
  }
  return wrapLanguageModel({ model, middleware: [] })
}
