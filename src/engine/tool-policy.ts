import { asSchema, type ModelMessage, type Tool, type ToolApprovalStatus, type ToolSet } from 'ai'
import type { ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'

/** What the engine needs to know of a tool beyond the AI SDK's `tool()` definition. */
export interface ToolPolicy {
  /** Whether a person must accept a call before it runs (AP1). */
  readonly approval?: 'always' | 'never' | ApprovalFunction
  /** Safe to run again when nobody knows whether it ran (CR4). Default: not. */
  readonly repeatable?: boolean
  readonly timeoutMs?: number
  /** The version of what it returns, for the cards that draw it. */
  readonly version?: string
}

export type ApprovalFunction = (input: Json, context: ApprovalContext) => boolean | Promise<boolean>

export interface ApprovalContext {
  readonly threadId: ThreadId
  readonly toolCallId: string
  readonly messages: ModelMessage[]
}

/** As in `streamText`: a status per tool, or a function of the call. */
export type ToolApproval =
  | Readonly<Record<string, ToolApprovalStatus | ToolApprovalFunction>>
  | ((options: {
      readonly toolCall: { toolName: string; toolCallId: string; input: Json }
      readonly messages: ModelMessage[]
    }) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>)

export type ToolApprovalFunction = (
  input: Json,
  options: { readonly toolCallId: string; readonly messages: ModelMessage[] },
) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>

export interface ToolCallToJudge extends ApprovalContext {
  readonly name: string
  readonly input: Json
}

export type ApprovalVerdict =
  | { readonly kind: 'free' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'approved' | 'denied'; readonly reason?: string }

/** The toolbox of one engine: the SDK's tools, and what policies say of them. */
export interface Toolbox {
  readonly tools: ToolSet
  readonly find: (name: string) => Tool | undefined
  readonly isExecutable: (name: string) => boolean
  readonly isRepeatable: (name: string) => boolean
  /** The provider runs it, and may give its result in a later step than the one that called it. */
  readonly isDeferred: (name: string) => boolean
  readonly policyOf: (name: string) => ToolPolicy
  readonly judge: (call: ToolCallToJudge) => ApprovalVerdict | Promise<ApprovalVerdict>
}

/** Converted once: the SDK would make the JSON Schema of every tool anew for every model call. */
const withSchemas = (tools: ToolSet): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      { ...tool, inputSchema: asSchema(tool.inputSchema) },
    ]),
  )

export function createToolbox(
  tools: ToolSet,
  policies: Readonly<Record<string, ToolPolicy>>,
  toolApproval: ToolApproval | undefined,
): Toolbox {
  // A model may call a tool `constructor`: only what the host put in counts.
  const own = <Value>(record: Readonly<Record<string, Value>>, name: string) =>
    Object.hasOwn(record, name) ? record[name] : undefined
  const find = (name: string): Tool | undefined => own(tools as Record<string, Tool>, name)
  const policyOf = (name: string): ToolPolicy => own(policies, name) ?? {}

  return {
    tools: withSchemas(tools),
    find,
    policyOf,
    isExecutable: (name) => typeof find(name)?.execute === 'function',
    isRepeatable: (name) => policyOf(name).repeatable === true,
    isDeferred(name) {
      const tool = find(name)
      return tool?.type === 'provider' && tool.supportsDeferredResults === true
    },

    judge(call) {
      const hasRule =
        policyOf(call.name).approval !== undefined ||
        toolApproval !== undefined ||
        find(call.name)?.needsApproval !== undefined
      return hasRule ? ask(call) : { kind: 'free' }
    },
  }

  async function ask(call: ToolCallToJudge): Promise<ApprovalVerdict> {
    const { approval } = policyOf(call.name)
    if (approval !== undefined) {
      const asks =
        typeof approval === 'function' ? await approval(call.input, call) : approval === 'always'
      return { kind: asks ? 'ask' : 'free' }
    }
    const status = await askSdk(call)
    if (status !== undefined) return toVerdict(status)
    const needs = find(call.name)?.needsApproval
    const asks =
      typeof needs === 'function'
        ? await needs(call.input, { ...call, context: undefined as never })
        : needs === true
    return { kind: asks ? 'ask' : 'free' }
  }

  async function askSdk(call: ToolCallToJudge): Promise<ToolApprovalStatus> {
    if (toolApproval === undefined) return undefined
    const { name: toolName, toolCallId, input, messages } = call
    if (typeof toolApproval === 'function') {
      return toolApproval({ toolCall: { toolName, toolCallId, input }, messages })
    }
    const rule = own(toolApproval, toolName)
    return typeof rule === 'function' ? rule(input, { toolCallId, messages }) : rule
  }
}

function toVerdict(status: Exclude<ToolApprovalStatus, undefined>): ApprovalVerdict {
  const { type, reason } =
    typeof status === 'string'
      ? { type: status, reason: undefined }
      : { reason: undefined, ...status }
  if (type === 'approved' || type === 'denied') {
    return reason === undefined ? { kind: type } : { kind: type, reason }
  }
  return { kind: type === 'user-approval' ? 'ask' : 'free' }
}
