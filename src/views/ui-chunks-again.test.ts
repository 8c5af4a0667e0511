import { expect, it } from 'vitest'
import { endedStep } from '../../test/support/turn-events.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import type { TurnEventBody } from '../core/event.ts'
import { createUiChunkCursor, nextChunks } from './ui-chunks.ts'

const unanswered: readonly TurnEventBody[] = [
  ...endedStep(0, 'stop'),
  { type: 'turn-ended', ending: { kind: 'no-answer' } },
]

it('[ST6] a run that showed nothing new and was over before it was looked at is begun and ended', () => {
  const sent = turnOf(...unanswered)
  const again = turnOf(...unanswered, { type: 'turn-resumed' }, ...unanswered)
  const cursor = createUiChunkCursor({ sent })
  expect(nextChunks(cursor, again).chunks.map(({ type }) => type)).toEqual(['start', 'finish'])
  expect(nextChunks(cursor, sent).chunks).toEqual([])
})
