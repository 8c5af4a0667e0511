import type { LanguageModel, LanguageModelStreamPart, ToolSet } from 'ai'

/** What the AI SDK says of one model call. */
export type SdkModelPart = LanguageModelStreamPart<ToolSet>
type SdkEnd = Extract<SdkModelPart, { readonly type: 'model-call-end' }>
/** What the SDK makes of what a provider says; how fast it was is nothing that is kept. */
export type ModelPart = Exclude<SdkModelPart, SdkEnd> | Omit<SdkEnd, 'performance'>

export type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type ModelStream = Awaited<ReturnType<Model['doStream']>>['stream']
/** What a provider says, before the SDK has made anything of it. */
export type ProviderPart = ModelStream extends ReadableStream<infer Said> ? Said : never
