import {
  experimental_streamLanguageModelCall,
  gateway,
  type LanguageModel,
  type LanguageModelStreamPart,
  type ToolSet,
  UnsupportedModelVersionError,
  wrapLanguageModel,
} from 'ai'

type SdkPart = LanguageModelStreamPart<ToolSet>
type SdkEnd = Extract<SdkPart, { readonly type: 'model-call-end' }>
/** What the SDK makes of it; how fast it was is nothing that is kept. */
export type ModelPart = Exclude<SdkPart, SdkEnd> | Omit<SdkEnd, 'performance'>

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type ModelStream = Awaited<ReturnType<Model['doStream']>>['stream']
/** What a provider says, before the SDK has made anything of it. */
export type ProviderPart = ModelStream extends ReadableStream<infer Said> ? Said : never

export type LayerCall = Parameters<typeof experimental_streamLanguageModelCall>[0]

export interface LayeredCall {
  readonly providerParts: ReadableStreamDefaultReader<ProviderPart>
  /** What the SDK makes of one part: none, one or several. */
  translate(part: ProviderPart): Promise<readonly ModelPart[]>
  close(): void
}

/**
 * A call through the AI SDK's single-call layer, which converts the prompt, speaks to old model
 * versions, downloads files and prepares the tools; but what the provider says is read before it goes
 * through the layer's stream. Nearly all of it the layer would hand on as it is, so that stream is
 * made only when something comes that it would not.
 */
export async function openLayeredCall(call: LayerCall): Promise<LayeredCall> {
  const model = resolveModel(call.model)
  const opened = Promise.withResolvers<ReadableStreamDefaultReader<ProviderPart>>()
  const wanted = Promise.withResolvers<ReadableStream<ProviderPart>>()
  const layer = experimental_streamLanguageModelCall({
    ...call,
    model: {
      specificationVersion: 'v4',
      provider: model.provider,
      modelId: model.modelId,
      supportedUrls: model.supportedUrls,
      doGenerate: (options) => model.doGenerate(options),
      async doStream(options) {
        const answer = await model.doStream(options)
        opened.resolve(answer.stream.getReader())
        return { ...answer, stream: await wanted.promise }
      },
    },
  })
  layer.then(() => opened.reject(new Error('The model was not called.')), opened.reject)
  const providerParts = await opened.promise
  const openWay = async (): Promise<Way> => {
    const way = Promise.withResolvers<Way['in']>()
    wanted.resolve(new ReadableStream({ start: way.resolve }))
    const { stream } = await layer
    return { in: await way.promise, out: stream.getReader() }
  }
  let way: Promise<Way> | undefined
  return {
    providerParts,
    async translate(part) {
      way ??= openWay()
      return sendThrough(await way, part)
    },
    close() {
      // Nobody reads it any more, so nobody misses how it ends.
      way?.then(({ out }) => out.cancel()).catch(() => undefined)
    },
  }
}

interface Way {
  readonly in: ReadableStreamDefaultController<ProviderPart>
  readonly out: ReadableStreamDefaultReader<SdkPart>
}

async function sendThrough(way: Way, part: ProviderPart): Promise<readonly ModelPart[]> {
  // Raw chunks come out as they went in: this one tells where the answer to `part` is over.
  const end = Symbol('end')
  way.in.enqueue(part)
  way.in.enqueue({ type: 'raw', rawValue: end })
  const made: ModelPart[] = []
  for (;;) {
    const { done, value } = await way.out.read()
    if (done || (value.type === 'raw' && value.rawValue === end)) return made
    made.push(value)
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
