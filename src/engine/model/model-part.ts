import type { LanguageModel, LanguageModelStreamPart, ToolSet } from 'ai'

/** What the AI SDK emits for one model call. */
export type SdkModelPart = LanguageModelStreamPart<ToolSet>
type SdkEnd = Extract<SdkModelPart, { readonly type: 'model-call-end' }>
/** What the SDK emits, without the performance figures, which are not stored. */
export type ModelPart = Exclude<SdkModelPart, SdkEnd> | Omit<SdkEnd, 'performance'>

export type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type ModelStream = Awaited<ReturnType<Model['doStream']>>['stream']
/** What a provider emits, before it has gone through the SDK. */
export type ProviderPart = ModelStream extends ReadableStream<infer Part> ? Part : never
