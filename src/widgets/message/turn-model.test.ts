import { expect, it } from 'vitest'
import { emptyTurn, foldTurn } from '../../core/fold-turn.ts'
import { parseMessageId } from '../../core/ids.ts'
import { numberEvents, type TurnEventBody } from '../../core/event.ts'
import { modelNoteOf } from './turn-model.tsx'

const turnId = parseMessageId('t')
const turnOf = (...events: TurnEventBody[]) =>
  foldTurn(
    emptyTurn(turnId, 1, 1),
    numberEvents(
      events.map((event) => ({ ...event, turnId, at: 1 })),
      1,
    ),
  )
const models = [
  { id: 'fast', label: 'Fast' },
  { id: 'best', label: 'Best' },
]
const started = { type: 'turn-started', replyTo: null } as const

it('[AG2a] shows which model produced an answer, with its label from the list', () => {
  const step = { type: 'step-started', step: 0, model: 'best' } as const
  expect(modelNoteOf(turnOf(started, step), models)).toEqual({ answered: 'Best' })
  expect(modelNoteOf(turnOf(started, step), [])).toEqual({ answered: 'best' })
  expect(modelNoteOf(turnOf(started), models)).toBeNull()
  const named = turnOf({ ...started, choices: { model: 'fast' } }, { ...step, model: 'gpt-mini' })
  expect(modelNoteOf(named, models)).toEqual({ answered: 'Fast' })
})

it('[AG5] shows which model failed', () => {
  const error = { code: 'model-error', message: 'Overloaded.' }
  const turn = turnOf(
    started,
    { type: 'step-started', step: 0, model: 'best' },
    { type: 'model-replaced', model: 'best', by: 'fast', error },
    { type: 'step-ended', finishReason: 'stop', model: 'fast' },
  )
  expect(modelNoteOf(turn, models)).toEqual({ answered: 'Fast', failed: 'Best' })
})
