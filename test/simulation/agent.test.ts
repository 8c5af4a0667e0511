import { createHoldfast, type HoldfastOptions, type TurnScope } from 'holdfast'
import { expect, it } from 'vitest'
import { runSeeds, stores } from './run-seeds.ts'

const threadOf = new WeakMap<object, string>()

/** The same engine, whose agent is asked for each run, answers after a while, and now and then fails. */
function createWithAgent(asked: TurnScope[], strangers: string[]) {
  return ({ model, tools, policies, ...options }: HoldfastOptions) => {
    const { clock } = options
    return createHoldfast({
      ...options,
      async agent(scope) {
        asked.push(scope)
        const wait = asked.length % 3
        if (wait > 0) {
          await new Promise<void>((resolve) => {
            clock?.after(wait * 40, resolve)
          })
        }
        // Not at the begin: the simulation's last message must be answered.
        if (scope.reason !== 'begin' && asked.length % 4 === 0) throw new Error('They are away.')
        const context = { threadId: scope.threadId }
        threadOf.set(context, scope.threadId)
        return {
          model: model!,
          context,
          tools: Object.fromEntries(
            Object.entries(tools ?? {}).map(([name, tool]) => [name, watched(tool, strangers)]),
          ),
          ...(policies === undefined ? {} : { policies }),
        }
      },
    })
  }
}

/** Says of a call that runs with the context of another thread. */
function watched<Tool extends object>(tool: Tool, strangers: string[]): Tool {
  const { execute } = tool as { execute?: (input: unknown, scope: object) => unknown }
  if (execute === undefined) return tool
  return {
    ...tool,
    execute(input: unknown, scope: { threadId: string; context: object }) {
      if (threadOf.get(scope.context) !== scope.threadId) strangers.push(scope.threadId)
      return execute(input, scope)
    },
  }
}

it('[AG1 AG3 AP5 CR1 CR5] an agent that is asked for each run, and fails at times, breaks no promise', async () => {
  const asked: TurnScope[] = []
  const strangers: string[] = []
  const create = createWithAgent(asked, strangers)
  const { failures } = await runSeeds(40_000, 100, { openStore: stores.memory, create })
  expect(failures).toEqual([])
  expect(strangers).toEqual([])
  const reasons = Map.groupBy(asked, ({ reason }) => reason)
  expect([...reasons.keys()].toSorted()).toEqual(['begin', 'resume', 'takeover'])
}, 120_000)
