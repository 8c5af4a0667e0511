import { expect, it, vi } from 'vitest'
import { byteStreamOf, createByteStream, toReadable } from './byte-stream.ts'

const decoder = new TextDecoder()
const textOf = (piece: Uint8Array | null) => (piece === null ? null : decoder.decode(piece))

it('[OP7a] produces the next chunk when the one before has been consumed, and counts it until then', async () => {
  const made: string[] = []
  const held: (string | null)[] = []
  const stream = createByteStream(
    async function* () {
      for (const piece of ['one', 'two']) {
        made.push(piece)
        yield piece
      }
    },
    {
      meter: {
        hold: (piece) => void held.push(textOf(piece)),
        release: (piece) => void held.splice(held.indexOf(textOf(piece)), 1),
      },
      onClose: () => held.push('closed'),
    },
  )
  expect(made).toEqual([])
  expect(textOf(await stream.next())).toBe('one')
  expect([made, held]).toEqual([['one'], ['one']])
  expect(textOf(await stream.next())).toBe('two')
  expect([made, held]).toEqual([['one', 'two'], ['two']])
  expect(await stream.next()).toBe(null)
  expect(held).toEqual(['closed'])
  expect(await stream.next()).toBe(null)
})

it('[OP7a] sends only the last of several notes that were not read, between chunks', async () => {
  const source = Promise.withResolvers<IteratorResult<string, void>>()
  let notify: (text: string) => void = () => {}
  const stream = createByteStream(() => ({ next: () => source.promise }), {
    opening: 'open',
    aside(to) {
      notify = to
      return () => {}
    },
    onClose: () => {},
  })
  notify('interrupted')
  notify('saving')
  expect(textOf(await stream.next())).toBe('open')
  expect(textOf(await stream.next())).toBe('saving')
  const waited = stream.next()
  notify('interrupted')
  expect(textOf(await waited)).toBe('interrupted')
  // The chunk arrived while no reader waited, and is not lost.
  source.resolve({ value: 'piece' })
  await source.promise
  expect(textOf(await stream.next())).toBe('piece')
})

it('[RS2] sends keep-alives only while a reader waits', async () => {
  vi.useFakeTimers()
  try {
    const stream = createByteStream(() => ({ next: () => new Promise(() => {}) }), {
      keepAlive: { text: 'alive', everyMs: 10 },
      onClose: () => {},
    })
    vi.advanceTimersByTime(50)
    const waited = stream.next()
    vi.advanceTimersByTime(10)
    expect(textOf(await waited)).toBe('alive')
    vi.advanceTimersByTime(50)
    const next = stream.next()
    stream.cancel()
    expect(await next).toBe(null)
  } finally {
    vi.useRealTimers()
  }
})

it('[RS2] aborts the source once when it is cancelled, and rejects the reader when the source breaks', async () => {
  let closed = 0
  let isAborted = false
  const left = createByteStream(
    (signal) => {
      signal.addEventListener('abort', () => (isAborted = true))
      return { next: () => new Promise(() => {}) }
    },
    { onClose: () => closed++ },
  )
  await toReadable(left).cancel()
  left.cancel()
  expect([isAborted, closed]).toEqual([true, 1])

  const broken = createByteStream(() => ({ next: () => Promise.reject(new Error('broke')) }), {
    onClose: () => closed++,
  })
  await expect(broken.next()).rejects.toThrow('broke')
  expect(closed).toBe(2)
})

it('[OP7a] is found from its body, unless that is being read already', async () => {
  const stream = createByteStream(
    async function* () {
      yield 'piece'
    },
    { onClose: () => {} },
  )
  const body = new Response(toReadable(stream)).body as ReadableStream<Uint8Array>
  expect(byteStreamOf(body)).toBe(stream)
  const other = byteStreamOf(new Response('text').body as ReadableStream<Uint8Array>)
  expect(textOf(await other.next())).toBe('text')
  expect(await other.next()).toBe(null)
})
