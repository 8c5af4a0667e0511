import { expect, it } from 'vitest'
import { readSse, type ServerEvent } from './read-sse.ts'

async function read(pieces: readonly string[]): Promise<readonly ServerEvent[]> {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(encoder.encode(piece))
      controller.close()
    },
  })
  const events: ServerEvent[] = []
  for await (const event of readSse(body)) events.push(event)
  return events
}

const text =
  ': open\r\n\r\nid: 7\ndata: {"a":1}\n\nevent: saving\r\ndata: one\r\ndata:two\r\n\r\n: keep-alive\n\ndata: last\n\ndata: unfinished'
const events: readonly ServerEvent[] = [
  { id: '7', event: undefined, data: '{"a":1}' },
  { id: undefined, event: 'saving', data: 'one\ntwo' },
  { id: undefined, event: undefined, data: 'last' },
]

it('[RS2] reads the same events wherever the bytes were cut', async () => {
  expect(await read([text])).toEqual(events)
  expect(await read(Array.from(text))).toEqual(events)
  for (let cut = 1; cut < text.length; cut++) {
    expect(await read([text.slice(0, cut), text.slice(cut)])).toEqual(events)
  }
})

it('[RS2] reads a frame of megabytes that comes in small pieces', async () => {
  const piece = 'x'.repeat(1_000)
  const [event] = await read(['data: ', ...Array.from({ length: 4_000 }, () => piece), '\n\n'])
  expect(event?.data).toHaveLength(4_000_000)
})
