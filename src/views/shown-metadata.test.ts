import { describe, expect, test } from 'vitest'
import type { TurnEventBody } from '../core/event.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { createUiChunkCursor, nextChunks } from './ui-chunks.ts'
import { projectUiMessage } from './ui-message.ts'

const error = { code: 'network', message: 'It could not be reached.' }
const begin: TurnEventBody = { type: 'step-started', step: 0, model: 'one' }
const replaced: TurnEventBody = { type: 'model-replaced', model: 'one', by: 'two', error }
const textEvents = (block: string, delta: string): readonly TurnEventBody[] => [
  { type: 'text-started', block, kind: 'text' },
  { type: 'text-appended', block, delta },
]

describe('models that failed', () => {
  test('[AG5] are in the metadata, live as on the page', () => {
    const events = [
      begin,
      replaced,
      ...textEvents('0', 'Well, '),
      { type: 'step-abandoned', error: { code: 'stream-cut', message: 'It was cut.' } } as const,
      { type: 'step-started', step: 1, model: 'three' } as const,
      ...textEvents('1', 'Hello.'),
    ]
    let cursor = createUiChunkCursor()
    let metadata: unknown
    for (let count = 0; count <= events.length; count++) {
      const turn = turnOf(...events.slice(0, count))
      const next = nextChunks(cursor, turn)
      cursor = next.cursor
      for (const chunk of next.chunks) {
        if ('messageMetadata' in chunk) metadata = chunk.messageMetadata
      }
      const shown = projectUiMessage(turn)
      if (shown !== null) expect(metadata).toEqual(shown.metadata)
    }
    expect(metadata).toEqual({
      modelFailures: [
        { step: 0, model: 'one', by: 'two', ...error },
        { step: 0, model: 'two', by: 'three', code: 'stream-cut', message: 'It was cut.' },
      ],
    })
  })
})
