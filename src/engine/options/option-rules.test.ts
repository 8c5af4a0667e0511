import { tool } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { OptionTable } from '../../core/check-options.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { memory, memoryRules } from '../../store/memory/memory-store.ts'
import { postgres, postgresRules } from '../../store/postgres/postgres-store.ts'
import { sqlite, sqliteRules } from '../../store/sqlite/sqlite-store.ts'
import { scriptedModel } from '../../testing/scripted-model.ts'
import { createHoldfast } from '../create-holdfast.ts'
import { agentRules, holdfastRules, policyRules, settingRules } from './option-rules.ts'

const echo = tool({ inputSchema: z.object({}), execute: () => 1 })
const options = () => ({ store: memory(), model: scriptedModel(() => []), recoverEveryMs: 0 })

/** The thrown error, as its code and message. */
function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof HoldfastError) return `${error.code}: ${error.message}`
    return `another error: ${String(error)}`
  }
  return 'no error'
}

const create = (change: object) => faultOf(() => createHoldfast({ ...options(), ...change }))

const wrong: readonly unknown[] = [
  0,
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1.5,
  '5',
  '',
  null,
  true,
  {},
  [],
  10n,
  2 ** 31,
  Symbol('s'),
]

/** A context may be anything. */
const unranged = ['context']

const doors: readonly (readonly [string, OptionTable<object>, (change: object) => unknown])[] = [
  ['createHoldfast', holdfastRules, (change) => createHoldfast({ ...options(), ...change })],
  [
    'createHoldfast, agent',
    agentRules,
    (change) =>
      createHoldfast({
        store: memory(),
        recoverEveryMs: 0,
        agent: { model: scriptedModel(() => []), ...change },
      }),
  ],
  [
    'createHoldfast, policies.echo',
    policyRules,
    (change) => createHoldfast({ ...options(), tools: { echo }, policies: { echo: change } }),
  ],
  [
    'createHoldfast, settings',
    settingRules,
    (change) => createHoldfast({ ...options(), settings: change }),
  ],
  ['memory', memoryRules, (change) => memory(change)],
  ['sqlite', sqliteRules, (change) => sqlite(':memory:', change)],
  ['postgres', postgresRules, (change) => postgres('postgres://127.0.0.1:1/none', change)],
]

describe.each(doors)('%s', (where, table, open) => {
  it.each(Object.entries(table).filter(([name]) => !unranged.includes(name)))(
    '[CF1] says which value of "%s" is wrong, and what it takes',
    (name, rule) => {
      const { range, fits } = rule as { range: string; fits: (value: unknown) => boolean }
      const bad = wrong.filter((value) => !fits(value))
      // A rule that accepts all of these has no range at all.
      expect(bad.length).toBeGreaterThan(5)
      for (const value of bad) {
        const fault = faultOf(() => open({ [name]: value }))
        expect(fault).toMatch(/^bad-option: /)
        expect(fault).toContain(`${where}: the option "${name}" must be ${range}, not `)
        expect(fault).not.toMatch(/\[object|undefined/)
      }
    },
  )

  it('[CF1] refuses a name that it does not know', () => {
    expect(faultOf(() => open({ nonsenseXyz: 1 }))).toContain(
      `${where} has no option "nonsenseXyz". Its options are ${Object.keys(table).join(', ')}.`,
    )
  })
})

describe('names', () => {
  it.each([
    [{ tool: {} }, 'tools'],
    [{ Tools: {} }, 'tools'],
    [{ maxStep: 3 }, 'maxSteps'],
    [{ toolconcurrency: 3 }, 'toolConcurrency'],
    [{ policy: {} }, 'policies'],
    [{ system: 'You are' }, 'instructions'],
    [{ runtimeContext: {} }, 'context'],
    [{ maxTokens: 1 }, 'maxOutputTokens'],
    [{ maxToolRoundtrips: 1 }, 'maxSteps'],
    [{ constructor: 1 }, undefined],
  ])('[CF1] says which one was meant: %j', (change, meant) => {
    const fault = create(change)
    if (meant === undefined) expect(fault).toContain('Its options are')
    else expect(fault).toContain(`Did you mean "${meant}"?`)
  })

  it('[CF1] treats undefined as absent, and names what is required', () => {
    expect(create({ maxSteps: undefined, tools: undefined })).toBe('no error')
    expect(create({ store: undefined })).toContain('createHoldfast needs the option "store"')
    expect(faultOf(() => createHoldfast(undefined as never))).toContain('an object of options')
    expect(faultOf(() => sqlite('', {}))).toContain('sqlite takes the name of a file, not ""')
    expect(faultOf(() => sqlite(5 as never))).toContain('not 5')
    expect(faultOf(() => postgres(undefined as never))).toContain('not undefined')
    expect(faultOf(() => postgres('http://secret@x'))).not.toContain('secret')
  })

  it('[CF1] checks the options of close', async () => {
    const holdfast = createHoldfast(options())
    await expect(holdfast.close({ graceMs: Number.NaN })).rejects.toThrow('"graceMs" must be')
    await holdfast.close()
  })
})

describe('agent', () => {
  const model = scriptedModel(() => [])
  const made = (change: object) =>
    faultOf(() => createHoldfast({ store: memory(), recoverEveryMs: 0, ...change }))

  it.each([
    { model },
    { tools: {} },
    { policies: {} },
    { toolApproval: {} },
    { instructions: 'x' },
    { settings: {} },
    { temperature: 1 },
    { context: 1 },
    { toolsContext: {} },
  ])('[AG1] is not given together with what is its own: %j', (beside) => {
    const [name] = Object.keys(beside)
    const fault = `bad-option: createHoldfast was given both "agent" and "${name}"`
    expect(made({ agent: { model }, ...beside })).toContain(fault)
    expect(made({ agent: () => ({ model }), ...beside })).toContain(fault)
  })

  it('[AG1] that is an object is checked at once', () => {
    expect(made({ agent: { model } })).toBe('no error')
    expect(made({ agent: {} })).toContain('createHoldfast, agent needs the option "model"')
    expect(made({ agent: { model, temprature: 1 } })).toContain('Did you mean "temperature"?')
    expect(made({ agent: { model, tools: { x: {} } } })).toContain('has no "inputSchema"')
    expect(made({ agent: { model, toolsContext: { x: 1 } } })).toContain(
      'toolsContext speaks of the tool "x"',
    )
  })

  it('[AG2] a value that is no schema of choices is refused', () => {
    expect(made({ model, choices: z.object({}) })).toBe('no error')
    expect(made({ model, choices: { model: 'fast' } })).toContain('"choices" must be a schema')
  })
})

describe('tools', () => {
  const named = (tools: object, more: object = {}) => create({ tools, ...more })

  it('[CF2] refuses what is no tool', () => {
    expect(named({ old: { parameters: z.object({}), execute: () => 1 } })).toContain(
      'the tool "old" has no "inputSchema" ("parameters" is what AI SDK 4 called it)',
    )
    expect(named({ none: undefined })).toContain('the tool "none" must be an AI SDK tool')
    expect(named({ half: { inputSchema: z.object({}), execute: 'later' } })).toContain(
      '"execute" of the tool "half" must be a function, not "later"',
    )
    expect(named({ '': echo })).toContain('a tool has no name')
  })

  it('[CF2] refuses a policy of a tool that does not exist', () => {
    const policies = { ecko: { repeatable: true } }
    expect(named({ echo }, { policies })).toContain(
      'policies speaks of the tool "ecko", and there is none. Did you mean "echo"?',
    )
    expect(named({ echo }, { toolApproval: { other: 'user-approval' } })).toContain('toolApproval')
    const settings = { toolChoice: { type: 'tool', toolName: 'gone' } }
    expect(named({ echo }, { settings })).toContain('toolChoice speaks of the tool "gone"')
    expect(named({ echo }, { policies: { constructor: {} } })).toContain('"constructor"')
  })
})

it.each<readonly [options: object, end: string]>([
  [{ model: [] }, 'or a list of them, not an empty list.'],
  [{ model: ['a/b', 7] }, 'or a list of them, not a list in which model[1] is 7.'],
  [
    { activeTools: ['echo', null] },
    'must be a list of names of tools, not a list in which activeTools[1] is null.',
  ],
  [
    { stopSequences: [{}] },
    'must be a list of strings, not a list in which stopSequences[0] is an object.',
  ],
  [{ maxSteps: [1] }, 'must be a whole number from 1 to 10,000, not a list.'],
])('[CF1] an error about a list names the entry that is wrong: %j', (change, end) => {
  expect(create({ tools: { echo }, ...change })).toContain(end)
})
