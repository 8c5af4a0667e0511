import { tool, type ToolSet } from 'ai'
import { callsOf, type Turn } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Fixture, tools } from './fixture.ts'

const input = z.object({})
const clientTools: ToolSet = { quiz: tool({ inputSchema: z.object({ question: z.string() }) }) }

/** Everything that the model was sent last, as text. */
const promptOf = ({ calls }: Fixture) => JSON.stringify(calls.at(-1)?.prompt)
const endingOf = ({ progress }: Turn) => (progress.status === 'ended' ? progress.ending : null)

describe('the wording of', () => {
  it.each<readonly [thrown: unknown, worded: string]>([
    [new Error('No such city.'), 'No such city.'],
    ['just words', 'just words'],
    [{ status: 404, why: 'gone' }, '{"status":404,"why":"gone"}'],
    [{ error: { message: 'of a server' } }, 'of a server'],
    [null, 'The tool failed and gave no reason.'],
    [undefined, 'The tool failed and gave no reason.'],
    [{}, 'The tool failed and gave no reason.'],
    [new Error({ a: 1 } as never), 'Error'],
    [new AggregateError([new Error('a'), new Error('b')], ''), 'a; b'],
  ])('[ST3a CL6] a tool that throws, whatever it throws (%#)', async (thrown, worded) => {
    const boom = tool({
      inputSchema: input,
      execute(): string {
        throw thrown as Error
      },
    })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'boom', input: {} }] : [{ text: 'ok' }]),
      { tools: { boom } },
    )
    const turn = await fixture.runTurn('go')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(promptOf(fixture)).toContain(JSON.stringify(worded).slice(1, -1))
    expect(promptOf(fixture)).not.toMatch(/\[object/)
  })

  it.each([
    [{ error: { message: 'out of order' } }, 'The model failed. (out of order)'],
    [null, 'The model failed.'],
    ['no credit', 'The model failed. (no credit)'],
    [new Error('{"error":{"message":"inside"}}'), 'The model failed. (inside)'],
    [{}, 'The model failed.'],
  ])('[ST3a ST2] a model that fails, whatever it says (%#)', async (fails, message) => {
    const fixture = await createFixture(() => [{ text: 'Hm' }, { fails }], {
      errorText: (_, where) => where.message,
    })
    expect(endingOf(await fixture.runTurn('go'))).toEqual({
      kind: 'failed',
      error: { code: 'model-error', message },
    })
  })

  it('[ST3a ST4] a call whose arguments never became whole, where there was no limit', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0
          ? [{ call: 'echo', input: { value: 1 }, cutOff: true }, { finish: 'stop' }]
          : [{ text: 'ok' }],
      { tools: tools() },
    )
    const [call] = callsOf(await fixture.runTurn('go'))
    expect(call).toMatchObject({ state: 'failed', cause: 'invalid-input' })
    expect(promptOf(fixture)).toContain('before the arguments of this call were complete')
    expect(promptOf(fixture)).not.toMatch(/limit/)
  })

  it('[ST3a AP8] a client’s call that a new message left behind: nobody was asked', async () => {
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ call: 'quiz', input: { question: 'Why?' } }] : [{ text: 'ok' }],
      { tools: clientTools },
    )
    const turn = await fixture.runTurn('go')
    await fixture.runTurn('never mind')
    const after = await fixture.store.readMessage(fixture.threadId, turn.id)
    expect([...callsOf(after as Turn)]).toMatchObject([
      { state: 'interrupted', cause: 'superseded' },
    ])
    expect(promptOf(fixture)).toContain('the user wrote a new message')
    expect(promptOf(fixture)).not.toMatch(/approv|did not run/)
  })

  it('[ST3a] a call that a rule denied: the user did not', async () => {
    const remove = tool({ inputSchema: input, execute: () => 'gone' })
    const fixture = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'remove', input: {} }] : [{ text: 'ok' }]),
      {
        tools: { remove },
        toolApproval: { remove: { type: 'denied', reason: 'Read only.' } },
      },
    )
    await fixture.runTurn('go')
    expect(promptOf(fixture)).toContain('the user was not asked')
    expect(promptOf(fixture)).toContain('The reason: Read only.')
    expect(promptOf(fixture)).not.toContain('The user declined')
  })

  it('[ST3a ST6] an empty answer: no tools ran', async () => {
    const fixture = await createFixture(() => [])
    expect(endingOf(await fixture.runTurn('go'))).toEqual({ kind: 'no-answer' })
  })
})
