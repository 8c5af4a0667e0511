import { describe, expect, it } from 'vitest'
import { numberEvents, type TurnEventBody } from '../core/event.ts'
import { emptyTurn, foldTurn } from '../core/fold-turn.ts'
import { parseCallId, parseMessageId } from '../core/ids.ts'
import type { Step, Turn } from '../core/message.ts'
import { randomLedger } from '../testing/random-ledger.ts'
import { answerOf, commentaryOf, stepTextOf } from './commentary.ts'

describe('commentary', () => {
  it('[CO1] is the text before the first call, trimmed', () => {
    expect(commentaryIn(textEvents('  Let me look.\n'), call('a'), call('b'))).toEqual({
      a: 'Let me look.',
    })
  })

  it('[CO1] between two calls is on the second, after the last is added to the last', () => {
    const bodies = [
      textEvents('One.'),
      call('a'),
      textEvents(' Two. '),
      call('b'),
      textEvents('Three.'),
      textEvents(' Four.'),
    ]
    expect(commentaryIn(...bodies)).toEqual({ a: 'One.', b: 'Two.\n\nThree. Four.' })
    expect(commentaryIn(call('a'), textEvents('After.'))).toEqual({ a: 'After.' })
  })

  it('[CO1] that is blank is none, and reasoning is not commentary', () => {
    expect(
      commentaryIn(textEvents(' \n'), call('a'), textEvents('think', 'reasoning'), call('b')),
    ).toEqual({})
  })

  it('[CO1 FD2] is in the text of the step once, in order, where it has calls between', () => {
    const turn = turnOf(
      ...[
        textEvents('One, '),
        textEvents('two.'),
        call('a'),
        textEvents(' '),
        call('b'),
        textEvents('Three'),
      ].flat(),
    )
    expect(stepTextOf(turn.steps[0] as Step)).toBe('One, two.\n\nThree')
  })
})

describe('the answer', () => {
  it('[CO1] is the text of the steps without calls that have ended', () => {
    const turn = turnOf(
      ...[stepStarted(0), ...textEvents('Let me look.'), ...call('a'), stepEnded],
      ...[stepStarted(1), ...textEvents('It is '), ...textEvents('18.'), stepEnded],
      ...[stepStarted(2), ...textEvents(' '), stepEnded],
      ...[stepStarted(3), ...textEvents('And sunny.'), stepEnded],
    )
    expect(answerOf(turn)).toBe('It is 18.\n\nAnd sunny.')
  })

  it('[CO2] is not the draft of an open step, nor an attempt that was broken off', () => {
    const draft = [stepStarted(0), ...textEvents('It is 1')]
    expect(answerOf(turnOf(...draft))).toBe('')
    expect(answerOf(turnOf(...draft, { type: 'step-abandoned' }, stepStarted(1)))).toBe('')
  })

  it('[CO2] only ever grows', () => {
    let grown = 0
    for (let seed = 1; seed <= 100; seed++) {
      const answers = new Map<string, string>()
      const turns = new Map<string, Turn>()
      for (const event of numberEvents(randomLedger(seed), 1)) {
        if (!('turnId' in event)) continue
        const before = turns.get(event.turnId) ?? emptyTurn(event.turnId, event.seq, event.at)
        const turn = foldTurn(before, [event])
        const answer = answerOf(turn)
        const shown = answers.get(turn.id) ?? ''
        expect(answer.startsWith(shown)).toBe(true)
        if (answer !== shown) grown++
        turns.set(turn.id, turn)
        answers.set(turn.id, answer)
      }
    }
    expect(grown).toBeGreaterThan(50)
  })
})

let blocks = 0

function textEvents(text: string, kind: 'text' | 'reasoning' = 'text'): readonly TurnEventBody[] {
  const block = String(blocks++)
  return [
    { type: 'text-started', block, kind },
    { type: 'text-appended', block, delta: text },
    { type: 'text-ended', block },
  ]
}

function call(id: string): readonly TurnEventBody[] {
  const callId = parseCallId(id)
  const origin = { id: callId, providerCallId: id, name: 'tool' }
  return [{ type: 'call-recorded', callId, call: origin, input: {}, approval: 'not-required' }]
}

const stepStarted = (step: number): TurnEventBody => ({ type: 'step-started', step })
const stepEnded: TurnEventBody = { type: 'step-ended', finishReason: 'stop' }

function turnOf(...bodies: readonly TurnEventBody[]): Turn {
  const turnId = parseMessageId('turn')
  const events = bodies.map((body) => ({ ...body, turnId, at: 0 }))
  return foldTurn(emptyTurn(turnId, 1, 0), numberEvents(events, 1))
}

const commentaryIn = (...bodies: readonly (readonly TurnEventBody[])[]) =>
  Object.fromEntries(commentaryOf(turnOf(...bodies.flat()).steps[0] as Step))
