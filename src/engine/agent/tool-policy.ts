import { asSchema, type Tool, type ToolApprovalStatus, type ToolSet } from 'ai'
import type { Json } from '../../core/json.ts'
import type { CallScope } from '../call-scope.ts'
import { fitContext } from '../fit-schema.ts'

/** What the engine needs to know about a tool beyond the AI SDK's `tool()` definition. */
export interface ToolPolicy<Context = unknown> {
  /** Whether a person must accept a call before it runs (AP1). @default as the tool or `toolApproval` defines */
  readonly approval?: 'always' | 'never' | ApprovalFunction<Context>
  /** Whether it is safe to run again when it is unknown whether it ran (CR4). @default false */
  readonly repeatable?: boolean
  /** How long it may take. @default `toolTimeoutMs` */
  readonly timeoutMs?: number
  /** The version of its result format, for the cards that render it. @default none */
  readonly version?: string
}

/** Whether a call with these arguments needs the approval of a person. If it throws, the call fails and does not run. */
export type ApprovalFunction<Context = unknown> = (
  input: Json,
  scope: CallScope<Context>,
) => boolean | Promise<boolean>

/** As in `streamText`: a status per tool, or a function of the call. */
export type ToolApproval<Context = unknown> =
  | Readonly<Record<string, ToolApprovalStatus | ToolApprovalFunction<Context>>>
  | ((
      options: CallScope<Context> & {
        readonly toolCall: { toolName: string; toolCallId: string; input: Json }
        readonly tools: ToolSet
        readonly toolsContext: Readonly<Record<string, unknown>>
        /** The agent's `context`, under the SDK's name. */
        readonly runtimeContext: Context
      },
    ) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>)

/** As in `streamText`: the approval status of one call of a tool. */
export type ToolApprovalFunction<Context> = (
  input: Json,
  options: CallScope<Context> & {
    /** The `context` of the tool itself. */
    readonly toolContext: unknown
    /** The agent's `context`, under the SDK's name. */
    readonly runtimeContext: Context
  },
) => ToolApprovalStatus | PromiseLike<ToolApprovalStatus>

/** A call to judge, with the agent's own context. */
export interface ToolCallToJudge {
  readonly name: string
  readonly input: Json
  readonly scope: CallScope
}

/** The result of the policies for a call: `free` runs, `ask` waits for a person, the others are decided already. */
export type ApprovalVerdict =
  | { readonly kind: 'free' }
  | { readonly kind: 'ask' }
  | { readonly kind: 'approved' | 'denied'; readonly reason?: string }

/** The toolbox of one agent: the SDK's tools and their policies. */
export interface Toolbox {
  readonly tools: ToolSet
  readonly find: (name: string) => Tool | undefined
  /** Whether the server runs it: it has an `execute`. */
  readonly isExecutable: (name: string) => boolean
  /** Whether a call that a crash broke off may run again (`repeatable` of its policy). @default false */
  readonly isRepeatable: (name: string) => boolean
  /** Whether the provider executes it, and may return its result in a later step than the one that called it. */
  readonly isDeferred: (name: string) => boolean
  /** Empty where the tool has none. */
  readonly policyOf: (name: string) => ToolPolicy
  /** The context of the tool. Rejects if it does not fit the tool's `contextSchema`: then nothing may run. */
  readonly contextOf: (name: string) => unknown
  /** The contexts of all tools, unchecked: for descriptions that are functions. */
  readonly contexts: Readonly<Record<string, unknown>>
  /** Whether a call runs, waits for a person, or is decided by a policy. */
  readonly judge: (call: ToolCallToJudge) => ApprovalVerdict | Promise<ApprovalVerdict>
}

/** Converted once: the SDK would build the JSON Schema of every tool again for every model call. */
const withSchemas = (tools: ToolSet): ToolSet =>
  Object.fromEntries(
    Object.entries(tools).map(([name, tool]) => [
      name,
      { ...tool, inputSchema: convert(tool.inputSchema) },
    ]),
  )

type AnySchema = Parameters<typeof asSchema>[0]

// Cached by schema: an agent that is created for each turn usually has the same tools.
const converted = new WeakMap<object, ReturnType<typeof asSchema>>()

function convert(schema: AnySchema): ReturnType<typeof asSchema> {
  if (schema === undefined) return asSchema(schema)
  const known = converted.get(schema) ?? asSchema(schema)
  converted.set(schema, known)
  return known
}

export interface ToolboxParts {
  readonly tools: ToolSet
  readonly policies: Readonly<Record<string, ToolPolicy>>
  readonly toolApproval: ToolApproval | undefined
  readonly context: unknown
  readonly toolsContext: Readonly<Record<string, unknown>>
}

export function createToolbox(parts: ToolboxParts): Toolbox {
  const { tools, policies, toolApproval, context, toolsContext } = parts
  // A model may call a tool `constructor`: only own properties count.
  const own = <Value>(record: Readonly<Record<string, Value>>, name: string) =>
    Object.hasOwn(record, name) ? record[name] : undefined
  const find = (name: string): Tool | undefined => own(tools as Record<string, Tool>, name)
  const policyOf = (name: string): ToolPolicy => own(policies, name) ?? {}
  const rawContextOf = (name: string): unknown =>
    find(name)?.contextSchema !== undefined || Object.hasOwn(toolsContext, name)
      ? own(toolsContext, name)
      : context
  const contextOf = (name: string): unknown => {
    const schema = find(name)?.contextSchema
    return schema === undefined ? rawContextOf(name) : fitContext(name, schema, rawContextOf(name))
  }

  return {
    tools: withSchemas(tools),
    contextOf,
    contexts: Object.fromEntries(Object.keys(tools).map((name) => [name, rawContextOf(name)])),
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
      if (!hasRule) return { kind: 'free' }
      // A copy: a policy that changes what it judges must not change what was called.
      return callPolicy({ ...call, input: structuredClone(call.input) })
    },
  }

  async function callPolicy(call: ToolCallToJudge): Promise<ApprovalVerdict> {
    const { approval } = policyOf(call.name)
    if (approval !== undefined) {
      const needsPerson =
        typeof approval === 'function'
          ? await approval(call.input, call.scope)
          : approval === 'always'
      return { kind: needsPerson ? 'ask' : 'free' }
    }
    const status = await callToolApproval(call)
    if (status !== undefined) return toVerdict(status)
    const needs = find(call.name)?.needsApproval
    const needsPerson =
      typeof needs === 'function' ? await needs(call.input, await toolScope(call)) : needs === true
    return { kind: needsPerson ? 'ask' : 'free' }
  }

  async function callToolApproval(call: ToolCallToJudge): Promise<ToolApprovalStatus> {
    if (toolApproval === undefined) return undefined
    const { name: toolName, input, scope } = call
    if (typeof toolApproval === 'function') {
      const toolCall = { toolName, toolCallId: scope.toolCallId, input }
      return toolApproval({ ...scope, toolCall, tools, toolsContext, runtimeContext: context })
    }
    const rule = own(toolApproval, toolName)
    if (typeof rule !== 'function') return rule
    const toolContext = await contextOf(toolName)
    return rule(input, { ...scope, toolContext, runtimeContext: context })
  }

  async function toolScope({ name, scope }: ToolCallToJudge): Promise<CallScope<never>> {
    return { ...scope, context: (await contextOf(name)) as never }
  }
}

/** What a function of the host application returned may be anything: what is no status has not allowed the tool to run. */
function toVerdict(status: unknown): ApprovalVerdict {
  const { type, reason } = (typeof status === 'string' ? { type: status } : (status ?? {})) as {
    readonly type?: unknown
    readonly reason?: unknown
  }
  switch (type) {
    case 'approved':
    case 'denied':
      return typeof reason === 'string' ? { kind: type, reason } : { kind: type }
    case 'user-approval':
      return { kind: 'ask' }
    case 'not-applicable':
      return { kind: 'free' }
    default:
      throw new TypeError(
        '"toolApproval" did not return "not-applicable", "user-approval", "approved" or "denied".',
      )
  }
}

export const noToolbox: Toolbox = createToolbox({
  tools: {},
  policies: {},
  toolApproval: undefined,
  context: undefined,
  toolsContext: {},
})
