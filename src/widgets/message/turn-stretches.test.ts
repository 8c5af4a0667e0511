import { describe, expect, it } from 'vitest'
import { parseMessageId } from '../../core/ids.ts'
import type { Part, Step, Turn } from '../../core/message.ts'
import { stretchesOf } from './turn-stretches.ts'

const said: Part = { type: 'steering', id: parseMessageId('s'), parts: [], at: 3 }
const text = (words: string): Part => ({ type: 'text', block: 'b', text: words, state: 'done' })

const step = (index: number, ...parts: readonly Part[]): Step => ({
  index,
  status: 'ended',
  finishReason: 'stop',
  startedAt: index,
  endedAt: index + 1,
  parts,
})

const turnOf = (status: 'running' | 'ended', ...steps: readonly Step[]): Turn => ({
  role: 'assistant',
  id: parseMessageId('m'),
  seq: 1,
  lastSeq: 2,
  replyTo: null,
  createdAt: 0,
  progress: status === 'running' ? { status } : { status, ending: { kind: 'stopped' }, endedAt: 9 },
  steps,
  unreadable: 0,
})

/** Of each stretch: its steps, and how it is. */
const shapeOf = (turn: Turn): readonly string[] =>
  stretchesOf(turn).map(
    ({ steps, progress }) =>
      `${steps.map(({ index }) => index).join(',')} ${progress.status}${'ending' in progress ? ` ${progress.ending.kind} ${progress.endedAt}` : ''}`,
  )

describe('the stretches of a turn', () => {
  it('[IN3] is the turn itself where nobody steered', () => {
    const turn = turnOf('running', step(0, text('a')), step(1))
    expect(stretchesOf(turn)).toEqual([turn])
    expect(stretchesOf(turn)[0]).toBe(turn)
  })

  it('[IN3] ends behind the step after which a message joined; only the last is as the turn is', () => {
    const steps = [step(0, text('a'), said), step(1), step(2, said), step(3)] as const
    expect(shapeOf(turnOf('running', ...steps))).toEqual([
      '0 ended completed 1',
      '1,2 ended completed 3',
      '3 running',
    ])
    expect(shapeOf(turnOf('ended', ...steps)).at(-1)).toBe('3 ended stopped 9')
  })

  it('[IN3] has one without steps where the answer to a message has not begun, and none where it never will', () => {
    expect(shapeOf(turnOf('running', step(0, said)))).toEqual(['0 ended completed 1', ' running'])
    expect(shapeOf(turnOf('ended', step(0, said)))).toEqual(['0 ended stopped 9'])
  })
})
