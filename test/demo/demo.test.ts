import { callsOf, type Turn } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { callsIn, endingOf, namesOf, openDemo, textsIn } from './demo-chat.ts'

const completed = { kind: 'completed' }
const answerOf = (turn: Turn) => textsIn(turn).at(-1) ?? ''

describe('what the demo model understands', () => {
  it.each([
    ['weather in Paris', [['get_weather', { city: 'Paris' }]]],
    ['What is the weather in New York today?', [['get_weather', { city: 'New York' }]]],
    [
      'weather in Rome and Oslo',
      [
        ['get_weather', { city: 'Rome' }],
        ['get_weather', { city: 'Oslo' }],
      ],
    ],
    ['time in Tokyo', [['get_time', { city: 'Tokyo' }]]],
    [
      'time in Tokyo and weather there',
      [
        ['get_time', { city: 'Tokyo' }],
        ['get_weather', { city: 'Tokyo' }],
      ],
    ],
    ['stock ACME', [['get_stock', { ticker: 'ACME' }]]],
    ['AFL code for an RSI strategy', [['get_afl_code', { subject: 'an RSI strategy' }]]],
    ['slow tool 3', [['slow_tool', { seconds: 3 }]]],
    ['charge card', [['charge_card', { amount: 42, currency: 'EUR' }]]],
  ])('%s', async (phrase, calls) => {
    const fixture = await openDemo()
    const turn = await fixture.runTurn(phrase)
    const expected = calls.map(([name, input]) => ({ name, input, state: 'succeeded' }))
    expect(callsIn(turn)).toEqual(expected)
    expect(turn.steps).toHaveLength(2)
    expect(endingOf(turn)).toEqual(completed)
    expect(answerOf(turn)).not.toMatch(/null|undefined|no result/)
    for (const call of callsOf(turn)) {
      expect(call).toMatchObject({ output: { value: { version: '1' } } })
    }
  })

  it('[CO1] searches notes, reads them and answers, with commentary before each', async () => {
    const fixture = await openDemo()
    const turn = await fixture.runTurn('search my notes for coffee')
    expect(namesOf(turn)).toEqual(['search_notes', 'read_note', 'read_note'])
    expect(turn.steps.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
      ['text', 'call'],
      ['text', 'call', 'call'],
      ['text'],
    ])
    expect(answerOf(turn)).toContain('Your note “Groceries” says: Milk, bread')
    expect(answerOf(await fixture.runTurn('search my notes for zebras'))).toContain('nothing about')
  })

  it('[CL4] calls 30 tools in one step', async () => {
    const turn = await (await openDemo()).runTurn('call 30 tools')
    expect(turn.steps.map(({ parts }) => parts.length)).toEqual([30, 1])
    expect(callsIn(turn).every(({ state }) => state === 'succeeded')).toBe(true)
    expect(answerOf(turn)).toBe('30 tools answered.')
  })

  it('[CL5] lets one of three calls fail', async () => {
    const turn = await (await openDemo()).runTurn('fail tool')
    expect(callsIn(turn).map(({ state }) => state)).toEqual(['succeeded', 'failed', 'succeeded'])
    expect(endingOf(turn)).toEqual(completed)
    expect(answerOf(turn)).toContain('The demo tool failed, as it was asked to.')
  })

  it('[ST2] fails in mid-text after a call, and goes on after', async () => {
    const fixture = await openDemo()
    const turn = await fixture.runTurn('provider error')
    expect(endingOf(turn)).toMatchObject({ kind: 'failed', error: { code: 'provider-down' } })
    expect(callsIn(turn)).toMatchObject([{ name: 'get_weather', state: 'interrupted' }])
    expect(answerOf(turn)).toBe('While that is being looked up, I can already say ')
    expect(endingOf(await fixture.runTurn('weather in Paris'))).toEqual(completed)
  })

  it('[ST4] is cut off in a call, and can be continued', async () => {
    const fixture = await openDemo()
    const turn = await fixture.runTurn('cut off')
    expect(endingOf(turn)).toEqual({ kind: 'cut-off' })
    expect(callsIn(turn)).toEqual([
      { name: 'get_weather', input: '{"city":"Par', state: 'interrupted' },
    ])
    await fixture.holdfast.continue(fixture.threadId)
    await fixture.holdfast.settled()
    expect(endingOf(await fixture.last())).toEqual(completed)
  })

  it('[ST6] calls tools and then says nothing', async () => {
    const turn = await (await openDemo()).runTurn('no final text')
    expect(endingOf(turn)).toEqual({ kind: 'no-answer' })
    expect(callsIn(turn).map(({ state }) => state)).toEqual(['succeeded', 'succeeded'])
    expect(textsIn(turn)).toEqual([])
  })

  it('writes a long answer, and answers anything else', async () => {
    const fixture = await openDemo()
    expect(answerOf(await fixture.runTurn('write a long answer')).length).toBeGreaterThan(2_000)
    expect(answerOf(await fixture.runTurn('Who are you?'))).toContain(
      'You said: “Who are you?”. That was message 2',
    )
  })

  it('leaves one line for each charge', async () => {
    const fixture = await openDemo()
    await fixture.runTurn('charge card')
    await fixture.runTurn('charge card 7.5')
    expect(fixture.charges.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { amount: 42, currency: 'EUR' },
      { amount: 7.5, currency: 'EUR' },
    ])
  })
})

describe('deleting notes', () => {
  const decide = async (
    fixture: Awaited<ReturnType<typeof openDemo>>,
    turn: Turn,
    ...decisions: readonly ('accept' | 'reject')[]
  ) => {
    const calls = [...callsOf(turn)]
    await fixture.holdfast.decide({
      threadId: fixture.threadId,
      by: 'me',
      decisions: decisions.flatMap((decision, index) => {
        const call = calls[index]
        if (call === undefined) return []
        const feedback = decision === 'reject' ? { feedback: 'I need it.' } : {}
        return [{ callId: call.id, decision, ...feedback }]
      }),
    })
    await fixture.holdfast.settled()
    return fixture.last()
  }

  it('[AP1 AP5] waits for approval, deletes, and answers', async () => {
    const fixture = await openDemo()
    const waiting = await fixture.runTurn('delete note Travel')
    expect(endingOf(waiting)).toEqual({ status: 'waiting', waitingFor: 'approval' })
    const turn = await decide(fixture, waiting, 'accept')
    expect(callsIn(turn)).toEqual([
      { name: 'delete_note', input: { title: 'Travel' }, state: 'succeeded' },
    ])
    expect(answerOf(turn)).toBe('I deleted the note “Travel”.')
    expect(answerOf(await fixture.runTurn('search my notes for Vienna'))).toContain('nothing about')
  })

  it('[AP4 AP6] asks for three at once, and shows what was declined and why', async () => {
    const fixture = await openDemo()
    const waiting = await fixture.runTurn('delete notes Groceries, Meeting and "Ideas"')
    expect(callsIn(waiting).map(({ input, state }) => [input, state])).toEqual([
      [{ title: 'Groceries' }, 'awaiting-approval'],
      [{ title: 'Meeting' }, 'awaiting-approval'],
      [{ title: 'Ideas' }, 'awaiting-approval'],
    ])
    const turn = await decide(fixture, waiting, 'accept', 'reject', 'accept')
    expect(callsIn(turn).map(({ state }) => state)).toEqual(['succeeded', 'denied', 'succeeded'])
    expect(answerOf(turn).split('\n\n')).toEqual([
      'I deleted the note “Groceries”.',
      'You declined, so I left the note “Meeting” alone. You said: I need it.',
      'I deleted the note “Ideas”.',
    ])
  })

  it('[AP3] reports what was really deleted when the arguments were edited', async () => {
    const fixture = await openDemo()
    const waiting = await fixture.runTurn('delete note Travel')
    const [call] = callsOf(waiting)
    await fixture.holdfast.decide({
      threadId: fixture.threadId,
      by: 'me',
      decisions: [{ callId: call!.id, decision: 'accept', args: { title: 'reading' } }],
    })
    await fixture.holdfast.settled()
    expect(answerOf(await fixture.last())).toBe('I deleted the note “Reading”.')
  })

  it('[AP8] is superseded by a new message, which is answered', async () => {
    const fixture = await openDemo()
    await fixture.runTurn('delete note Ideas')
    const turn = await fixture.runTurn('weather in Paris')
    expect(namesOf(turn)).toEqual(['get_weather'])
    expect(endingOf(turn)).toEqual(completed)
    const [, superseded] = await fixture.messages()
    expect(callsIn(superseded as Turn)).toMatchObject([{ state: 'denied' }])
    expect(answerOf(await fixture.runTurn('search my notes for kettle'))).toContain('“Ideas”')
  })
})
