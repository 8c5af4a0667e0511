import { expect, it, vi } from 'vitest'
import { settled } from '../../../test/support/scripted-clock.ts'
import { parseMessageId } from '../../core/ids.ts'
import { largestTurnBytes, type StoredChange } from '../../store/store.ts'
import {
  createLiveWindow,
  extendLiveWindow,
  type Frame,
  type LiveWindow,
  nextChange,
  sliceLiveWindow,
} from './live-window.ts'

/** Everything after a seq up to another, as one commit of so many bytes. */
const frame = (after: number, seq: number, bytes = 10): Frame => {
  const changes = Array.from({ length: seq - after }, (_, index): StoredChange => {
    const place = after + 1 + index
    const messageId = parseMessageId(`u${place}`)
    const event = {
      type: 'message-added',
      at: 1,
      seq: place,
      messageId,
      role: 'user',
      parts: [],
    } as const
    return { kind: 'event', seq: place, commit: seq, event }
  })
  return { after, seq, changes, incarnation: 'one', bytes }
}
const windowOf = (...frames: readonly Frame[]): LiveWindow => {
  const window = createLiveWindow()
  for (const each of frames) extendLiveWindow(window, each)
  return window
}
const seqsOf = (changes: readonly StoredChange[]) => changes.map(({ seq }) => seq)
const stateOf = ({ from, to, known, frames }: LiveWindow) => [
  from,
  to,
  known,
  seqsOf(frames.flatMap(({ changes }) => changes)),
]

it('[OP7a] holds half a megabyte at most, and the newest frame in any case', () => {
  const window = windowOf(frame(0, 1, 300_000), frame(1, 2, 200_000), frame(2, 3, 100_000))
  expect([window.from, window.to, window.bytes]).toEqual([1, 3, 300_000])
  extendLiveWindow(window, frame(3, 4, 3_000_000))
  expect([window.from, window.to, window.bytes]).toEqual([3, 4, 3_000_000])
})

it('[OP7a] keeps no frame that is too large: followers read it without its results', () => {
  const window = windowOf(frame(0, 1), frame(1, 2, largestTurnBytes + 1))
  expect(stateOf(window)).toEqual([2, 2, 2, []])
  extendLiveWindow(window, frame(2, 3))
  expect(stateOf(window)).toEqual([2, 3, 3, [3]])
})

it('[OP7a] returns the same frame to all followers at one seq', () => {
  const newest = frame(7, 8)
  const window = windowOf(frame(5, 7), newest)
  expect(sliceLiveWindow(window, 7)).toBe(newest)
  expect(sliceLiveWindow(window, 5)).toBe(sliceLiveWindow(window, 5))
  expect(sliceLiveWindow(window, 6)).toBe(sliceLiveWindow(window, 6))
})

it('[OP7a] wakes very many followers at intervals, and then all of them with everything committed meanwhile', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const window = windowOf(frame(5, 7))
    const { signal } = new AbortController()
    const woken = { times: 0 }
    const wait = () => {
      for (let index = 0; index < 500; index++) {
        void nextChange(window, signal).then(() => woken.times++)
      }
    }
    vi.advanceTimersByTime(1_000)
    wait()
    extendLiveWindow(window, frame(7, 8))
    await settled()
    expect(woken.times).toBe(500)
    wait()
    extendLiveWindow(window, frame(8, 9))
    vi.advanceTimersByTime(90)
    extendLiveWindow(window, frame(9, 10))
    await settled()
    expect(woken.times).toBe(500)
    vi.advanceTimersByTime(10)
    await settled()
    expect(woken.times).toBe(1_000)
    expect(seqsOf(sliceLiveWindow(window, 8).changes)).toEqual([9, 10])
  } finally {
    vi.useRealTimers()
  }
})
