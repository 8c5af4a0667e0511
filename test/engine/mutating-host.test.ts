import { type ModelMessage, tool } from 'ai'
import { callsOf, type HoldfastOptions } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, gate } from './fixture.ts'

interface Given {
  note: string
  list: string[]
}
/** What code of a host does to objects that it was given. */
function spoil(given: unknown): void {
  const own = given as Given
  own.note = 'spoiled'
  own.list.push('spoiled')
}
const inputSchema = z.object({ note: z.string(), list: z.array(z.string()) })
const proposed = { note: 'as proposed', list: ['a'] }

/** A call, and an answer after it, of a host that changes what it is given. */
async function run(options: Partial<HoldfastOptions>) {
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'act', input: proposed }] : [{ text: 'Done.' }]),
    { tools: { act: tool({ inputSchema, execute: ({ note }) => note }) }, ...options },
  )
  const followed = fixture.until(({ messages }) => {
    const last = messages.at(-1)
    return last?.role === 'assistant' && last.progress.status === 'ended'
  })
  const turn = await fixture.runTurn('go')
  const [shown] = [(await followed).messages.at(-1)]
  return { fixture, turn, shown, told: JSON.stringify(fixture.calls[1]?.prompt) }
}

describe('a host that changes what it is given', () => {
  it.each<readonly [string, Partial<HoldfastOptions>]>([
    [
      'a tool its arguments',
      {
        tools: {
          act: tool({
            inputSchema,
            execute: (input) => {
              spoil(input)
              return 'done'
            },
          }),
        },
      },
    ],
    [
      'a tool its arguments while it yields',
      {
        tools: {
          act: tool({
            inputSchema,
            async *execute(input) {
              yield 'begun'
              spoil(input)
              yield 'done'
            },
          }),
        },
      },
    ],
    [
      'toModelOutput the arguments',
      {
        tools: {
          act: tool({
            inputSchema,
            execute: () => 'done',
            toModelOutput: ({ input }) => {
              spoil(input)
              return { type: 'text', value: 'done' }
            },
          }),
        },
      },
    ],
    [
      'a policy the arguments',
      {
        policies: {
          act: {
            approval: (input) => {
              spoil(input)
              return false
            },
          },
        },
      },
    ],
    [
      'needsApproval the arguments',
      {
        tools: {
          act: tool({
            inputSchema,
            needsApproval: (input) => {
              spoil(input)
              return false
            },
            execute: () => 'done',
          }),
        },
      },
    ],
    [
      'toolApproval the arguments',
      {
        toolApproval: ({ toolCall }) => {
          spoil(toolCall.input)
          return 'approved'
        },
      },
    ],
    [
      'a tool the messages',
      {
        tools: {
          act: tool({
            inputSchema,
            execute: (_, { messages }) => {
              for (const message of messages) message.content = 'spoiled'
              messages.push({ role: 'user', content: 'spoiled' } satisfies ModelMessage)
              return 'done'
            },
          }),
        },
      },
    ],
  ])('[LG4 CL3] %s: nothing of it is stored, shown or told to the model', async (_, options) => {
    const { fixture, turn, shown, told } = await run(options)
    const inputs = [...callsOf(turn)].map(({ input }) => input)
    expect(inputs).toEqual([{ kind: 'complete', value: proposed }])
    expect(shown).toEqual(turn)
    expect(told).toContain('as proposed')
    expect(told).not.toContain('spoiled')
    expect(JSON.stringify(await fixture.messages())).not.toContain('spoiled')
  })

  it('[LG2 LG4] a tool that changes its arguments after it has returned changes nothing that is shown', async () => {
    let given: Given | undefined
    const spoiled = gate()
    const { turn, shown } = await run({
      tools: {
        act: tool({
          inputSchema,
          execute: (input) => {
            given = input
            return 'done'
          },
        }),
      },
      onStepEnd: () => {
        if (given !== undefined) spoil(given)
        spoiled.open()
      },
    })
    await spoiled.opened
    expect([...callsOf(turn)].map(({ input }) => input)).toEqual([
      { kind: 'complete', value: proposed },
    ])
    expect(shown).toEqual(turn)
  })
})
