import type { Instructions, LanguageModel, ModelMessage, ToolSet } from 'ai'
import { withDefined } from '../core/with-defined.ts'
import type { FileLoader } from './file-loader.ts'
import { toDeepCall, toDirectCall, toDirectPart } from './direct-part.ts'
import type { ModelPart, ProviderPart } from './model-part.ts'
import {
  type AnswerOutput,
  type CallSettings,
  type LayerCall,
  type LayeredCall,
  openLayeredCall,
  type RepairToolCall,
} from './sdk-layer.ts'

export type { CallSettings } from './sdk-layer.ts'

export interface ModelCall {
  readonly model: LanguageModel
  readonly instructions: Instructions | undefined
  readonly messages: ModelMessage[]
  readonly tools: ToolSet
  /** For tools whose description is a function of it. */
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly settings: CallSettings
  readonly toolOrder?: readonly string[]
  readonly repairToolCall?: RepairToolCall
  readonly output?: AnswerOutput
  readonly signal: AbortSignal
  readonly files: FileLoader
  /** Put around the request to the provider. */
  readonly around?: LayerCall['around']
}

/** `enough`: whatever else the model says is not wanted. */
export type OnPart = (part: ModelPart) => PartResult | Promise<PartResult>
export type PartResult = 'more' | 'enough'

/**
 * The one place where a model is called. Its parts are handed over in order, each when the one before
 * has been handled: a callback and no stream, because most parts are a few letters and are handled at once.
 */
export async function callModel(call: ModelCall, onPart: OnPart): Promise<void> {
  const { tools, settings } = call
  const layered = await openCall(call)
  // Where the model is told which tools it may use, the SDK watches over the calls that it makes.
  const isFree = settings.toolChoice === undefined || settings.toolChoice === 'auto'
  const { providerParts } = layered
  try {
    for (;;) {
      const { done, value } = await providerParts.read()
      if (done) return
      const direct = isFree ? toDirectPart(value, tools) : undefined
      if (direct !== undefined) {
        const verdict = onPart(direct)
        if ((typeof verdict === 'string' ? verdict : await verdict) === 'enough') return
      } else {
        for (const part of await translate(layered, value, isFree ? tools : undefined)) {
          if ((await onPart(part)) === 'enough') return
        }
      }
    }
  } finally {
    layered.close()
    providerParts.cancel().catch(() => undefined)
  }
}

/** Files that cannot be had become words, and the model is called with those (ST3b). */
async function openCall(call: ModelCall): Promise<LayeredCall> {
  const { model, instructions, tools, toolsContext, settings, signal, files } = call
  const { toolOrder, repairToolCall, output, around } = call
  for (;;) {
    const { missing } = files
    const messages = files.inWords(call.messages)
    try {
      return await openLayeredCall({
        ...settings,
        model,
        messages,
        tools,
        toolsContext: { ...toolsContext },
        download: files.download,
        abortSignal: signal,
        ...withDefined({}, { instructions, toolOrder, repairToolCall, output, around }),
      })
    } catch (error) {
      // Each time round there is one more that is missing, so there is an end to it.
      if (files.missing === missing && !files.isToBlame(error, messages)) throw error
    }
  }
}

async function translate(
  layered: LayeredCall,
  part: ProviderPart,
  tools: ToolSet | undefined,
): Promise<readonly ModelPart[]> {
  if (part.type === 'tool-call') {
    const call =
      toDeepCall(part) ?? (tools === undefined ? undefined : await toDirectCall(part, tools))
    return call === undefined ? layered.translate(part) : [call]
  }
  const parts = await layered.translate(part)
  // The layer drops the word that tells a rough image from the finished one (CL10).
  return part.type === 'tool-result' && part.preliminary === true
    ? parts.map((each) => (each.type === 'tool-result' ? { ...each, preliminary: true } : each))
    : parts
}
