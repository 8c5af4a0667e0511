import { tool } from 'ai'
import { callsOf } from 'holdfast'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createFixture } from './fixture.ts'

let asked = 0
/** Run by the client; what it returns has a shape, and a default. */
const locate = tool({
  inputSchema: z.object({}),
  outputSchema: z
    .object({ city: z.string(), unit: z.string().default('km') })
    .transform((place) => {
      asked++
      return place
    }),
})

async function waiting() {
  const fixture = await createFixture(
    ({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? [{ text: 'There.' }] : [{ call: 'locate', input: {} }],
    { tools: { locate } },
  )
  const { holdfast, threadId } = fixture
  onTestFinished(() => holdfast.close())
  const turn = await fixture.runTurn('Where am I?')
  const [call] = callsOf(turn)
  if (call === undefined) throw new Error('There is no call.')
  const addOutput = (value: unknown) =>
    holdfast.addToolOutputs(threadId, [
      {
        callId: call.id,
        outcome: { state: 'succeeded', output: { kind: 'inline', value: value as never } },
      },
    ])
  return { ...fixture, addOutput }
}

describe('what a client returns for a tool that it runs', () => {
  it.each([
    ['another type', 'Oslo'],
    ['a field that is missing', { unit: 'mi' }],
    ['a field of another type', { city: 7 }],
    ['null', null],
  ])('[CL2a] is refused where it does not fit the outputSchema: %s', async (_, value) => {
    const fixture = await waiting()
    expect(await fixture.addOutput(value)).toMatchObject([{ kind: 'invalid-result' }])
    const turn = await fixture.last()
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'client' })
    // It waits as before, and takes one that fits.
    expect(await fixture.addOutput({ city: 'Oslo' })).toEqual([{ kind: 'added' }])
  })

  it('[CL2a] is stored as the schema makes it, once; what the client sent, sent again, is no news', async () => {
    const fixture = await waiting()
    asked = 0
    const sent = { city: 'Oslo', admin: true }
    expect(await fixture.addOutput(sent)).toEqual([{ kind: 'added' }])
    expect(asked).toBe(1)
    await fixture.holdfast.settled()
    const [call] = callsOf(await fixture.last())
    expect(call).toMatchObject({ output: { value: { city: 'Oslo', unit: 'km' } } })
    expect(await fixture.addOutput(sent)).toEqual([{ kind: 'repeated' }])
    expect(await fixture.addOutput({ city: 'Oslo', unit: 'km' })).toEqual([{ kind: 'repeated' }])
    expect(await fixture.addOutput({ city: 'Bergen' })).toEqual([
      { kind: 'too-late', state: 'succeeded' },
    ])
  })
})
