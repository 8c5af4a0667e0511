import {
  experimental_streamLanguageModelCall,
  type Instructions,
  type LanguageModel,
  type LanguageModelStreamPart,
  type ModelMessage,
  type ToolSet,
} from 'ai'

/** Settings that are handed to the model as they are. */
export type CallSettings = Pick<
  Parameters<typeof experimental_streamLanguageModelCall>[0],
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

export interface ModelCall {
  readonly model: LanguageModel
  readonly instructions: Instructions | undefined
  readonly messages: ModelMessage[]
  readonly tools: ToolSet
  readonly settings: CallSettings
  readonly signal: AbortSignal
}

/**
 * The one place where a model is called: the AI SDK's single-call layer. It converts the prompt,
 * speaks to old model versions, downloads files, parses and validates calls; the loop is ours.
 */
export async function callModel(
  call: ModelCall,
): Promise<AsyncIterable<LanguageModelStreamPart<ToolSet>>> {
  const { model, instructions, messages, tools, settings, signal } = call
  const { stream } = await experimental_streamLanguageModelCall({
    ...settings,
    model,
    messages,
    tools,
    abortSignal: signal,
    allowSystemInMessages: true,
    ...(instructions === undefined ? {} : { instructions }),
    _internal: { collectContent: false },
  })
  return stream
}
