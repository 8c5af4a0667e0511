import { jsonSchema, tool, type ToolSet } from 'ai'
import { type Clock, wait } from '../../engine/clock.ts'
import type { ToolPolicy } from '../../engine/tool-policy.ts'
import type { Random } from '../random.ts'

export interface ToolInput {
  readonly n: number
}

/** What a tool is, as the checks see it: an engine may be told otherwise, to see the checks fail. */
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

export const simulatedTools = {
  look: define(true),
  crawl: define(true),
  report: define(true),
  charge: define(false),
  post: define(false),
  fail: define(false),
  hang: define(false, { timeoutMs: 2_500 }),
  erase: define(false, { approval: 'always' }),
  /** Has nothing to run here: the client does. */
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

/** The tools of one process. What they take, they take in its time. */
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
