import { jsonSchema, tool, type ToolSet } from 'ai'
import { isDeepStrictEqual } from 'node:util'
import type { Call } from '../../core/call.ts'
import type { NewEvent } from '../../core/event.ts'
import type { CallId } from '../../core/ids.ts'
import { callsOf } from '../../core/message.ts'
import { type Clock, wait } from '../../engine/clock.ts'
import type { ToolPolicy } from '../../engine/agent/tool-policy.ts'
import type { Random } from '../random.ts'
import type { Report, Oracle } from './oracle.ts'

export interface ToolInput {
  readonly n: number
}

/**
 * The properties of a tool that the checks use. A deliberate break gives the engine another policy, never the checks.
 */
export interface SimulatedTool {
  readonly repeatable: boolean
  readonly needsApproval: (input: ToolInput) => boolean
  readonly policy: ToolPolicy
}

const define = (repeatable: boolean, policy: ToolPolicy = {}): SimulatedTool => {
  const { approval } = policy
  const needsApproval =
    typeof approval === 'function' ? isOdd : approval === 'always' ? () => true : () => false
  return { repeatable, needsApproval, policy: { ...policy, repeatable } }
}
const isOdd = ({ n }: ToolInput): boolean => n % 2 === 1

const simulatedTools = {
  look: define(true),
  crawl: define(true),
  report: define(true),
  charge: define(false),
  post: define(false),
  fail: define(false),
  hang: define(false, { timeoutMs: 2_500 }),
  erase: define(false, { approval: 'always' }),
  /** Has no `execute`: the client runs it. */
  ask: define(false),
  pay: define(false, { approval: (input) => isOdd(input as unknown as ToolInput) }),
} as const satisfies Readonly<Record<string, SimulatedTool>>

export type ToolName = keyof typeof simulatedTools
export const toolNames = Object.keys(simulatedTools) as readonly ToolName[]
export const toolPolicies: Readonly<Record<string, ToolPolicy>> = Object.fromEntries(
  Object.entries(simulatedTools).map(([name, { policy }]) => [name, policy]),
)

const inputSchema = jsonSchema<ToolInput>(
  { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  {
    validate: (value) =>
      typeof (value as Partial<ToolInput> | null)?.n === 'number'
        ? { success: true, value: value as ToolInput }
        : { success: false, error: new Error('n is a number') },
  },
)

export interface ToolWatch {
  readonly began: (name: ToolName, callId: string, input: ToolInput) => void
  readonly returned: (callId: string, output: unknown) => void
}

/** The tools of one process; they wait in virtual time. */
export function createTools(clock: Clock, random: Random, watch: ToolWatch): ToolSet {
  const pause = (signal?: AbortSignal) => wait(clock, random.pick([0, 1, 30, 200, 1_200]), signal)
  const plain = (name: ToolName) =>
    tool({
      inputSchema,
      async execute(input, { toolCallId, abortSignal }) {
        watch.began(name, toolCallId, input)
        if (random.chance(0.6)) await pause(abortSignal)
        if (name === 'fail') throw new Error('It cannot be done.')
        const output = random.pick([{ n: input.n }, '', 0, false, null, []])
        watch.returned(toolCallId, output)
        return output
      },
    })
  const report = tool({
    inputSchema,
    async *execute(input, { toolCallId, abortSignal }) {
      watch.began('report', toolCallId, input)
      for (let done = 1; done <= 3; done++) {
        await pause(abortSignal)
        watch.returned(toolCallId, { done })
        yield { done }
      }
    },
  })
  const hang = tool({
    inputSchema,
    execute(input, { toolCallId, abortSignal }): Promise<string> {
      watch.began('hang', toolCallId, input)
      return new Promise((_, reject) => {
        abortSignal?.addEventListener('abort', () => reject(new Error('Given up.')))
      })
    },
  })
  const special: Readonly<Record<string, ToolSet[string]>> = {
    report,
    hang,
    ask: tool({ inputSchema }),
  }
  return Object.fromEntries(toolNames.map((name) => [name, special[name] ?? plain(name)]))
}

/** What the tools of all processes ran and returned, checked against what is stored of it. */
export interface ToolRuns extends ToolWatch {
  /** A stored output must be one that the tool returned (LG9). */
  checkStored(event: NewEvent): void
}

export interface ToolRunsParts {
  readonly oracles: () => Iterable<Oracle>
  readonly report: Report
  readonly onRepeat: () => void
}

export function createToolRuns(parts: ToolRunsParts): ToolRuns {
  const runs = new Map<string, number>()
  const outputs = new Map<string, unknown[]>()
  const { report } = parts

  return {
    began(name, callId, input) {
      const times = (runs.get(callId) ?? 0) + 1
      runs.set(callId, times)
      if (times > 1) parts.onRepeat()
      const found = findCall(parts.oracles(), callId)
      if (found === undefined) report('CL3', `${name} ran for ${callId}, which is not stored`)
      else checkRun(name, times, input, found, report)
    },
    returned(callId, output) {
      outputs.set(callId, [...(outputs.get(callId) ?? []), output])
    },
    checkStored(event) {
      if (event.type !== 'call-settled' || event.outcome.state !== 'succeeded') return
      const { output } = event.outcome
      const given = outputs.get(event.callId)
      if (given === undefined || output.kind !== 'inline') return
      if (!given.some((value) => isDeepStrictEqual(value, output.value))) {
        report('LG9', `${event.callId} was stored with ${JSON.stringify(output.value)}`)
      }
    },
  }
}

interface Found {
  readonly call: Call
  readonly oracle: Oracle
}

/**
 * When a tool starts, its call must be stored as started (CL3), with this input (AP3), accepted if it needs approval
 * (AP1), and not run too often (CR4).
 */
function checkRun(
  name: ToolName,
  times: number,
  input: ToolInput,
  { call, oracle }: Found,
  report: Report,
): void {
  const { repeatable, needsApproval } = simulatedTools[name]
  const starts = oracle.countOf('call-started', call.id)
  const retries = oracle.countOf('call-resolved', call.id)
  if (starts === 0) report('CL3', `${name} ran for ${call.id} before it was stored as started`)
  if (!repeatable && (times > 1 + retries || times > starts)) {
    report('CR4', `${name} ran ${times} times for ${call.id}, retried ${retries} times`)
  }
  const given = call.input.kind === 'complete' ? call.input.value : undefined
  if (!isDeepStrictEqual(given, input)) {
    report('AP3', `${name} was given ${JSON.stringify(input)}, not ${JSON.stringify(given)}`)
  }
  const proposed = (call.proposedInput ?? given) as unknown as ToolInput
  if (needsApproval(proposed) && call.decision?.kind !== 'accepted') {
    report('AP1', `${name} ran for ${call.id}, which nobody accepted`)
  }
}

function findCall(oracles: Iterable<Oracle>, callId: CallId): Found | undefined {
  for (const oracle of oracles) {
    for (const turn of oracle.turns.values()) {
      for (const call of callsOf(turn)) if (call.id === callId) return { call, oracle }
    }
  }
  return undefined
}
