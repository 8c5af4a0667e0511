import type { Instructions, LanguageModel, ModelMessage, ToolSet } from 'ai'
import { withDefined } from '../../core/with-defined.ts'
import { type Clock, pacerOf } from '../clock.ts'
import type { HostPatience } from '../run/host-patience.ts'
import type { FileLoader } from '../files/file-loader.ts'
import { toDirectCall, toDirectPart, toUnwalkableCall } from './direct-part.ts'
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
  /** For tools whose description is a function of their context. */
  readonly toolsContext: Readonly<Record<string, unknown>>
  readonly settings: CallSettings
  readonly toolOrder?: readonly string[]
  readonly repairToolCall?: RepairToolCall
  readonly output?: AnswerOutput
  readonly signal: AbortSignal
  /** For the schemas of the tools, which are functions of the host application and may be asynchronous. */
  readonly patience: HostPatience
  readonly files: FileLoader
  /** Wraps the request to the provider. */
  readonly around?: LayerCall['around']
}

/**
 * After so many parts it is asked whether others need their turn: a provider whose parts are all there already never leaves
 * the microtask queue, and everybody else would wait until it has ended (OP7). More than what arrives at once from a
 * network, because a pause within a step splits its commit: with 64 turns at once and a pause after 50 parts, a turn had
 * 21 commits in place of 13.
 */
export const partsAtOnce = 256

/** `enough`: no further parts of the model are wanted. */
export type OnPart = (part: ModelPart) => PartResult | Promise<PartResult>
export type PartResult = 'more' | 'enough'

/**
 * The only place where a model is called. Parts are delivered in order, each after the previous one has been handled. A
 * callback and not a stream, because most parts are a few characters and are handled synchronously.
 */
export async function callModel(call: ModelCall, onPart: OnPart, clock: Clock): Promise<void> {
  const { tools, settings, signal, patience } = call
  const layered = await openCall(call)
  // With a tool choice, the SDK itself checks the calls that the model makes, so no part may bypass it.
  const isFree = settings.toolChoice === undefined || settings.toolChoice === 'auto'
  const { providerParts } = layered
  const pace = pacerOf(clock)
  const cancel = () => {
    providerParts.cancel(signal.reason).catch(() => undefined)
  }
  // A model that ignores the signal and is silent would keep whoever stopped it waiting for ever.
  signal.addEventListener('abort', cancel, { once: true })
  try {
    for (let read = 1; ; read++) {
      const { done, value } = await providerParts.read()
      if (done) return signal.throwIfAborted()
      if (read % partsAtOnce === 0) await pace()
      const direct = isFree ? toDirectPart(value, tools) : undefined
      if (direct !== undefined) {
        const verdict = onPart(direct)
        if ((typeof verdict === 'string' ? verdict : await verdict) === 'enough') return
      } else {
        for (const part of await patience(translate(layered, value, isFree ? tools : undefined))) {
          if ((await onPart(part)) === 'enough') return
        }
      }
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    layered.close()
    cancel()
  }
}

/** Files that cannot be loaded are replaced by a text about them, and the model is called with that (ST3b). */
async function openCall(call: ModelCall): Promise<LayeredCall> {
  const { model, instructions, tools, toolsContext, settings, signal, files } = call
  const { toolOrder, repairToolCall, output, around } = call
  const sent = await files.refer(call.messages, model)
  for (;;) {
    const { missing } = files
    const messages = files.withMissingAsText(sent)
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
      // Each retry has one more missing file, so the loop ends.
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
      toUnwalkableCall(part) ?? (tools === undefined ? undefined : await toDirectCall(part, tools))
    return call === undefined ? layered.translate(part) : [call]
  }
  const parts = await layered.translate(part)
  // The SDK's single-call layer drops `preliminary`, which separates a preliminary image from the final one (CL10).
  return part.type === 'tool-result' && part.preliminary === true
    ? parts.map((each) => (each.type === 'tool-result' ? { ...each, preliminary: true } : each))
    : parts
}
