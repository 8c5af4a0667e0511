import { describe, expect, it } from 'vitest'
import { createSseDecoder, type SseComment, type SseEvent } from './sse.ts'

type Item = SseEvent | SseComment

function decode(pieces: readonly string[]): {
  readonly items: readonly Item[]
  readonly rest: readonly Item[]
} {
  const decoder = createSseDecoder()
  return { items: pieces.flatMap((piece) => decoder.push(piece)), rest: decoder.end() }
}
const event = (data: string, more: Partial<SseEvent> = {}): SseEvent => ({
  type: 'event',
  id: undefined,
  event: undefined,
  data,
  ...more,
})
const comment = (text: string): SseComment => ({ type: 'comment', text })

describe('the decoder of server-sent events', () => {
  it.each(['\n', '\r\n', '\r'])(
    '[RS2] reads the same wherever the text was cut, with %j',
    (end) => {
      const text = [
        ': open',
        '',
        'id: 7',
        'data: {"a":1}',
        '',
        'event: saving',
        'data: one',
        'data:two',
        'data',
        '',
        ':keep-alive',
        '',
        'retry: 5',
        'id: 8',
        '',
        'data: last',
        '',
        'data: unfinished',
      ].join(end)
      const expected = {
        items: [
          comment('open'),
          event('{"a":1}', { id: '7' }),
          event('one\ntwo\n', { event: 'saving' }),
          comment('keep-alive'),
          event('last'),
        ],
        rest: [event('unfinished')],
      }
      expect(decode([text])).toEqual(expected)
      expect(decode(Array.from(text))).toEqual(expected)
      for (let cut = 0; cut <= text.length; cut++) {
        expect(decode([text.slice(0, cut), '', text.slice(cut)])).toEqual(expected)
      }
    },
  )

  it.each<readonly [what: string, text: string, items: readonly Item[]]>([
    ['nothing but blank lines', '\n\n\r\n\r', []],
    ['data that is empty', 'data:\n\n', [event('')]],
    ['one space after the colon and no more', 'data:  two\n\n', [event(' two')]],
    ['colons in the value', 'data: a:b: c\n\n', [event('a:b: c')]],
    ['a name that only begins like a field', 'database: x\ndata: y\n\n', [event('y')]],
    ['an id with a NUL, which is none', 'id: a\0b\ndata: y\n\n', [event('y')]],
    ['a comment inside an event', 'data: a\n: c\ndata: b\n\n', [comment('c'), event('a\nb')]],
  ])('[RS2] reads %s', (_what, text, items) => {
    expect(decode([text])).toEqual({ items, rest: [] })
  })

  it('[RS2] takes time in proportion to a frame of megabytes in small pieces', () => {
    const pieces = Array.from({ length: 20_000 }, () => 'x'.repeat(1_000))
    const { items } = decode(['data: ', ...pieces, '\n\n'])
    expect(items.map((item) => (item.type === 'event' ? item.data.length : 0))).toEqual([
      20_000_000,
    ])
  })
})
