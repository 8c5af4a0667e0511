import { describe, expect, it } from 'vitest'
import { callsOf } from '../core/message.ts'
import { answerOf } from '../views/commentary.ts'
import { toTurn } from './use-chat-adapter.ts'

const message = (...parts: readonly object[]) => ({ id: 'm1', role: 'assistant', parts })
const statesOf = (parts: readonly object[], isLive: boolean) =>
  [...callsOf(toTurn(message(...parts), isLive)!)].map(({ state }) => state)

const call = { type: 'tool-get_weather', toolCallId: 'c1', input: { city: 'Paris' } }

describe('a message of useChat as a turn', () => {
  it('[CD1] has the calls and the answer of its parts', () => {
    const turn = toTurn(
      message(
        { type: 'step-start' },
        { ...call, state: 'output-available', output: { temperatureC: 4 } },
        { type: 'step-start' },
        { type: 'text', text: 'It is 4 °C.' },
      ),
      false,
    )!
    expect(turn.id).toBe('m1')
    expect([...callsOf(turn)]).toMatchObject([
      { id: 'c1', state: 'succeeded', output: { kind: 'inline', value: { temperatureC: 4 } } },
    ])
    expect(answerOf(turn)).toBe('It is 4 °C.')
    expect(turn.progress.status).toBe('ended')
  })

  it('[CD1] keeps open what is open while it is received', () => {
    expect(statesOf([{ ...call, state: 'input-available' }], true)).toEqual(['ready'])
    expect(statesOf([{ ...call, state: 'input-streaming' }], true)).toEqual(['streaming'])
    expect(
      statesOf([{ ...call, state: 'approval-requested', approval: { id: 'a' } }], true),
    ).toEqual(['awaiting-approval'])
    expect(toTurn(message({ ...call, state: 'input-available' }), true)?.progress.status).toBe(
      'running',
    )
  })

  it('[FK6] has the arguments of a call as far as they have arrived, marked as incomplete', () => {
    const [streaming] = callsOf(toTurn(message({ ...call, state: 'input-streaming' }), true)!)
    expect(streaming?.input).toEqual({ kind: 'partial', text: '{"city":"Paris"}' })
    const [ready] = callsOf(toTurn(message({ ...call, state: 'input-available' }), true)!)
    expect(ready?.input).toEqual({ kind: 'complete', value: { city: 'Paris' } })
  })

  it('[AP1] waits for a person though its stream is over, beside what has been decided', () => {
    const parts = [
      { ...call, state: 'approval-requested', approval: { id: 'a' } },
      {
        ...call,
        toolCallId: 'c2',
        state: 'approval-responded',
        approval: { id: 'b', approved: true },
      },
    ]
    expect(statesOf(parts, false)).toEqual(['awaiting-approval', 'ready'])
    expect(toTurn(message(...parts), false)?.progress).toEqual({
      status: 'waiting',
      waitingFor: 'approval',
    })
    expect(statesOf(parts.slice(1), false)).toEqual(['ready'])
  })

  it('[CD5] has a call once, in its last state', () => {
    const parts = [
      { ...call, state: 'input-available' },
      { ...call, state: 'output-available', output: 1 },
    ]
    expect(statesOf(parts, false)).toEqual(['succeeded'])
  })

  it('is none for a message of the user', () => {
    expect(
      toTurn({ id: 'u', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, false),
    ).toBeNull()
  })
})
