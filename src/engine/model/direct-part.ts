import { asSchema, type ToolSet } from 'ai'
import { toReadableThrown } from '../../core/error-text.ts'
import { createJsonScanner, deepestValue } from '../../core/json-depth.ts'
import { isWider, mostWidth, tooWide } from '../../core/json-width.ts'
import { withDefined } from '../../core/with-defined.ts'
import { WordedError } from '../worded-error.ts'
import type { ModelPart, ProviderPart } from './model-part.ts'

type Calling = Extract<ProviderPart, { readonly type: 'tool-call' }>
type Called = Extract<ModelPart, { readonly type: 'tool-call' }>

/**
 * Translates parts that the SDK would pass on unchanged, or nearly so. Undefined: the part has to go through the SDK.
 */
export function toDirectPart(part: ProviderPart, tools: ToolSet): ModelPart | undefined {
  switch (part.type) {
    case 'text-delta':
    case 'reasoning-delta':
      return {
        type: part.type,
        id: part.id,
        text: part.delta,
        ...(part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }),
      }
    case 'text-start':
    case 'text-end':
    case 'reasoning-start':
    case 'reasoning-end':
    case 'tool-input-delta':
    case 'tool-input-end':
      return part
    case 'tool-input-start': {
      const tool = findTool(tools, part.toolName)
      return {
        ...part,
        dynamic: part.dynamic ?? tool?.type === 'dynamic',
        ...(tool?.title === undefined ? {} : { title: tool.title }),
        ...(tool?.metadata === undefined ? {} : { toolMetadata: tool.metadata }),
      }
    }
    case 'stream-start':
      return { type: 'model-call-start', warnings: part.warnings }
    case 'response-metadata':
      return { ...part, type: 'model-call-response-metadata' }
    case 'finish':
      return toModelEnd(part)
    default:
      return undefined
  }
}

type Finish = Extract<ProviderPart, { readonly type: 'finish' }>
type ModelEnd = Extract<ModelPart, { readonly type: 'model-call-end' }>

/**
 * A provider may omit the finish reason or the usage: then the part goes through the SDK, which reports what is wrong.
 */
export function toModelEnd({
  finishReason,
  usage,
  providerMetadata,
}: Finish): ModelEnd | undefined {
  const { inputTokens: sent, outputTokens: made } = (usage as Partial<typeof usage> | null) ?? {}
  if (finishReason == null || sent == null || made == null) return undefined
  const counted = {
    inputTokens: sent.total,
    inputTokenDetails: {
      noCacheTokens: sent.noCache,
      cacheReadTokens: sent.cacheRead,
      cacheWriteTokens: sent.cacheWrite,
    },
    outputTokens: made.total,
    outputTokenDetails: { textTokens: made.text, reasoningTokens: made.reasoning },
    totalTokens:
      sent.total == null && made.total == null ? undefined : (sent.total ?? 0) + (made.total ?? 0),
  }
  const end = {
    type: 'model-call-end',
    finishReason: finishReason.unified,
    rawFinishReason: finishReason.raw,
    usage: withDefined(counted, { raw: usage.raw }),
  } as const
  return withDefined(end, { providerMetadata })
}

/**
 * A call of one of our tools whose arguments fit its schema. Undefined for every other call: the SDK handles what is
 * wrong with it, or special about it.
 */
export async function toDirectCall(part: Calling, tools: ToolSet): Promise<Called | undefined> {
  const tool = findTool(tools, part.toolName)
  if (tool === undefined || part.providerExecuted === true || part.dynamic === true)
    return undefined
  const parsed = parsePlainJson(part.input)
  if (parsed === undefined) return undefined
  const checked = await validate(tool, parsed.value)
  if (checked?.success === false) return checked.error === unreadable ? toInvalid(part) : undefined
  return {
    type: 'tool-call',
    toolCallId: part.toolCallId,
    toolName: part.toolName,
    input: checked === undefined ? parsed.value : checked.value,
    ...(tool.type === 'dynamic' ? { dynamic: true } : {}),
    ...(tool.title === undefined ? {} : { title: tool.title }),
    ...(tool.metadata === undefined ? {} : { toolMetadata: tool.metadata }),
    ...(part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata }),
  }
}

/**
 * A schema that throws is left to the SDK, which reports it for the call; except when what was thrown cannot be read,
 * which the SDK could not read either.
 */
async function validate(tool: ToolSet[string], value: unknown) {
  try {
    return await asSchema(tool.inputSchema).validate?.(value)
  } catch (thrown) {
    const error = toReadableThrown(thrown)
    return { success: false, error: error === thrown ? error : unreadable } as const
  }
}

const unreadable = new WordedError('The tool’s schema failed without a reason.')

const toInvalid = ({ toolCallId, toolName, input }: Calling): Called => ({
  type: 'tool-call',
  toolCallId,
  toolName,
  input,
  dynamic: true,
  invalid: true,
  error: unreadable,
})

/**
 * A call whose arguments are nested too deeply, or have too many values, to be walked: its schema is not called, and their
 * text is kept (CL6a).
 */
export function toUnwalkableCall(part: Calling): Called | undefined {
  if (part.providerExecuted === true) return undefined
  const { toolCallId, toolName, input } = part
  const shape = createJsonScanner(mostWidth.keys)(input)
  const isDeep = shape.depth > deepestValue
  if (!isDeep && !isWider(shape, mostWidth)) return undefined
  const what = isDeep ? `are nested deeper than ${deepestValue} levels` : `have ${tooWide}`
  const error = new WordedError(`The arguments ${what}.`)
  return { type: 'tool-call', toolCallId, toolName, input, dynamic: true, invalid: true, error }
}

const findTool = (tools: ToolSet, name: string): ToolSet[string] | undefined =>
  Object.hasOwn(tools, name) ? tools[name] : undefined

/** Text that could contain a key which replaces an object's prototype is left to the SDK. */
function parsePlainJson(text: string): { readonly value: unknown } | undefined {
  if (text.trim() === '') return { value: {} }
  if (/__proto__|constructor|\\u/.test(text)) return undefined
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}
