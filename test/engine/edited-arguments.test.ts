import { tool } from 'ai'
import { type CallId, callsOf, type Json, parseCallId } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Fixture } from './fixture.ts'

interface Edited {
  readonly fixture: Fixture
  readonly callId: CallId
  readonly ran: unknown[]
  readonly decide: (args: Json, by?: string) => Promise<unknown>
}

/** A call that waits, of a tool with this schema. */
async function waiting(inputSchema: z.ZodType, proposed: Json): Promise<Edited> {
  const ran: unknown[] = []
  const act = tool({
    inputSchema,
    execute: (input: unknown) => {
      ran.push(input)
      return 'done'
    },
  })
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'act', input: proposed }] : [{ text: 'Done.' }]),
    { tools: { act }, policies: { act: { approval: 'always' } } },
  )
  const [call] = callsOf(await fixture.runTurn('go'))
  const callId = parseCallId(call?.id)
  const decide = async (args: Json, by = 'ann') => {
    const decisions = [{ callId, decision: 'accept', args }] as const
    const [result] = await fixture.holdfast.decide({ threadId: fixture.threadId, by, decisions })
    await fixture.holdfast.settled()
    return result
  }
  return { fixture, callId, ran, decide }
}

const inputOf = async ({ fixture }: Edited) => {
  const [call] = callsOf(await fixture.last())
  return call?.input
}

describe('arguments that a person edited', () => {
  it('[AP3] are stored, run and shown to the model as the schema makes them: stripped and with defaults', async () => {
    const schema = z.object({ path: z.string(), mode: z.string().default('soft') })
    const edited = await waiting(schema, { path: 'a' })
    expect(await edited.decide({ path: 'b', admin: true })).toEqual({ kind: 'accepted' })
    expect(edited.ran).toEqual([{ path: 'b', mode: 'soft' }])
    expect(await inputOf(edited)).toEqual({
      kind: 'complete',
      value: { path: 'b', mode: 'soft' },
    })
    const told = JSON.stringify(edited.fixture.calls[1]?.prompt)
    expect(told).not.toContain('admin')
    expect(told).toContain('"mode":"soft"')
  })

  it('[AP3] are transformed once', async () => {
    let checks = 0
    const schema = z.object({
      note: z
        .string()
        .refine(async () => {
          checks += 1
          return Promise.resolve(true)
        })
        .transform((text) => `${text}!`),
    })
    const edited = await waiting(schema, { note: 'first' })
    const before = checks
    await edited.decide({ note: 'second' })
    expect(edited.ran).toEqual([{ note: 'second!' }])
    expect(checks - before).toBe(1)
  })

  it('[AP2] are the same decision when they are sent again as they were sent', async () => {
    const schema = z.object({ note: z.string().transform((text) => text.trim()) })
    const edited = await waiting(schema, { note: 'first' })
    await edited.decide({ note: ' second ', more: 1 })
    expect(await edited.decide({ note: ' second ', more: 1 })).toEqual({
      kind: 'accepted',
      repeated: true,
    })
    expect(await edited.decide({ note: 'second' })).toEqual({ kind: 'accepted', repeated: true })
    expect(await edited.decide({ note: 'third' })).toMatchObject({ kind: 'already-decided' })
    expect(await edited.decide({ note: 'second' }, 'bob')).toMatchObject({
      kind: 'already-decided',
    })
    expect(edited.ran).toEqual([{ note: 'second' }])
  })

  it.each([
    ['gives what is not JSON', z.object({ n: z.number().transform((n) => BigInt(n)) })],
    [
      'throws what nobody can read',
      z.object({ n: z.number() }).transform((input): { n: number } => {
        if (input.n === 1) return input
        throw hostile()
      }),
    ],
    [
      'throws null',
      z.object({ n: z.number() }).transform((input): { n: number } => {
        if (input.n === 1) return input
        throw null as unknown as Error
      }),
    ],
  ])('[AP3] commit nothing where their schema %s', async (_, schema) => {
    const edited = await waiting(z.union([z.object({ n: z.literal(1) }), schema]), { n: 1 })
    expect(await edited.decide({ n: 2 })).toMatchObject({ kind: 'invalid-args' })
    expect(edited.ran).toEqual([])
    expect((await edited.fixture.last()).progress).toMatchObject({ status: 'waiting' })
  })
})

const hostile = (): Error =>
  new Proxy(new Error('x'), {
    get() {
      throw new Error('no reading')
    },
    getPrototypeOf() {
      throw new Error('no looking')
    },
  })

describe('arguments of a model', () => {
  it('[CL6] that a schema turns into what is not JSON fail their call and no more', async () => {
    const act = tool({
      inputSchema: z.object({ n: z.number().transform((n) => BigInt(n)) }),
      execute: () => 'ran',
    })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'act', input: { n: 1 } }] : [{ text: 'Fine.' }]),
      { tools: { act } },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([
      {
        state: 'failed',
        cause: 'invalid-input',
        error: expect.stringContaining('BigInt') as string,
      },
    ])
  })
})
