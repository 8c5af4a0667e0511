import { describe, expect, it } from 'vitest'
import { settled } from '../../../test/support/scripted-clock.ts'
import type { LedgerEvent, NewEvent } from '../../core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { planCommit } from '../../store/plan-commit.ts'
import type { Store, StoredChange } from '../../store/store.ts'
import { createHub, type FollowedPlace } from './hub.ts'
import {
  covers,
  createLiveWindow,
  extendLiveWindow,
  type Frame,
  type LiveWindow,
  nextChange,
  notifyLiveWindow,
  placeLiveWindow,
  restartLiveWindow,
  sliceLiveWindow,
  toFrame,
} from './live-window.ts'

const messageAt = (seq: number): LedgerEvent => ({
  type: 'message-added',
  at: 1,
  seq,
  messageId: parseMessageId(`u${seq}`),
  role: 'user',
  parts: [],
})
/** Everything after a seq up to another, as one commit. */
const frame = (after: number, seq: number): Frame => {
  const changes = Array.from({ length: seq - after }, (_, index): StoredChange => {
    const event = messageAt(after + 1 + index)
    return { kind: 'event', seq: event.seq, commit: seq, event }
  })
  return { after, seq, changes, incarnation: 'one', bytes: 10 }
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

describe('a live window', () => {
  it.each<readonly [string, readonly Frame[], unknown]>([
    ['is at no place at first', [], [0, 0, 0, []]],
    ['begins where the first frame does', [frame(5, 7)], [5, 7, 7, [6, 7]]],
    ['grows by what follows', [frame(5, 7), frame(7, 8)], [5, 8, 8, [6, 7, 8]]],
    ['takes a frame once', [frame(5, 7), frame(5, 7)], [5, 7, 7, [6, 7]]],
    ['leaves out what is older', [frame(5, 7), frame(3, 6)], [5, 7, 7, [6, 7]]],
    ['begins anew after a gap', [frame(5, 7), frame(9, 10)], [9, 10, 10, [10]]],
    ['begins anew with a frame that overlaps', [frame(5, 7), frame(6, 9)], [6, 9, 9, [7, 8, 9]]],
  ])('[RS2] %s', (_, frames, expected) => {
    expect(stateOf(windowOf(...frames))).toEqual(expected)
  })

  it('[OP6] is not moved by a read of a thread that was deleted since', () => {
    const window = windowOf(frame(0, 2))
    placeLiveWindow(window, { ...frame(0, 9), incarnation: 'before' })
    expect([stateOf(window), window.incarnation]).toEqual([[0, 2, 2, [1, 2]], 'one'])
    placeLiveWindow(window, frame(0, 9))
    expect(stateOf(window)).toEqual([9, 9, 2, []])
  })

  it('[RS2] [PG6] keeps a thousand changes at most, and tracks where they begin', () => {
    const window = windowOf(frame(0, 300), frame(300, 600), frame(600, 1_200))
    expect([window.from, window.to, window.changes]).toEqual([300, 1_200, 900])
    expect(window.frames.map(({ after }) => after)).toEqual([300, 600])
  })

  it.each([
    [4, false],
    [5, true],
    [6, true],
    [7, true],
    [8, false],
  ])('[RS2] of 5 to 7 covers who stands at %i: %s', (after, isCovered) => {
    expect(covers(windowOf(frame(5, 7)), after)).toBe(isCovered)
  })

  it('[RS2] covers no seq before it has a position, and not where it is empty', () => {
    expect(covers(createLiveWindow(), 0)).toBe(false)
  })

  it.each([
    [5, [6, 7]],
    [6, [7]],
    [7, []],
  ])('[RS2] gives who stands at %i what follows: %j', (after, seqs) => {
    const part = sliceLiveWindow(windowOf(frame(5, 7)), after)
    expect([part.after, part.seq, seqsOf(part.changes)]).toEqual([after, 7, seqs])
  })

  it('[RS2] has the turn of the newest frame only, and none after a restart', () => {
    const turn = { id: 'm' } as never
    const window = windowOf({ ...frame(5, 7), turn })
    expect(sliceLiveWindow(window, 5).turn).toBe(turn)
    extendLiveWindow(window, frame(7, 8))
    expect(sliceLiveWindow(window, 5)).not.toHaveProperty('turn')
    extendLiveWindow(window, { ...frame(8, 9), turn })
    extendLiveWindow(window, { ...frame(9, 10), turn })
    // Each is the whole turn: a window of a thousand frames has one, and not a thousand.
    expect(window.frames.map((each) => 'turn' in each)).toEqual([false, false, false, true])
    restartLiveWindow(window, 9)
    expect([window.frames, window.changes, window.bytes]).toEqual([[], 0, 0])
  })

  it('[RS2] wakes each waiting follower once; a notification of a lower seq changes nothing', async () => {
    const window = windowOf(frame(5, 7))
    let woken = 0
    void nextChange(window, new AbortController().signal).then(() => woken++)
    notifyLiveWindow(window, 9)
    notifyLiveWindow(window, 8)
    await settled()
    expect([woken, window.known]).toEqual([1, 9])
  })

  it('[RS2] wakes a follower that has left, and no other', async () => {
    const window = windowOf(frame(5, 7))
    const [leave, stay] = [new AbortController(), new AbortController()]
    const woken: string[] = []
    void nextChange(window, leave.signal).then(() => woken.push('left'))
    void nextChange(window, stay.signal).then(() => woken.push('stayed'))
    leave.abort()
    await settled()
    expect([woken, window.waiting.size]).toEqual([['left'], 1])
  })

  it.each<readonly [string, Partial<Frame>, string, boolean]>([
    ['another thread that has its id', { incarnation: 'two' }, 'a', true],
    ['numbers that were given before', {}, 'b', true],
    ['what it has', {}, 'a', false],
    ['a thread of which nothing is known', { incarnation: '' }, '', false],
  ])('[OP6] ends where a frame is of another history, by %s: %s', (_, change, mark, ends) => {
    const marked = (each: Frame, drawn: string): Frame => ({
      ...each,
      changes: each.changes.map((one) => ({ ...one, mark: drawn })),
    })
    const window = windowOf(marked(frame(5, 7), 'a'))
    extendLiveWindow(window, { ...marked(frame(5, 7), mark), ...change })
    expect(window.ended).toBe(ends)
  })
})

describe('followers of a thread', () => {
  const threadId = parseThreadId('t')

  /** The memory store, with its reads counted. Its own notifications are what a hub gets. */
  function open() {
    const inner = memory()
    const reads: number[] = []
    const store: Store = {
      ...inner,
      readChanges(query) {
        reads.push(query.after)
        return inner.readChanges(query)
      },
    }
    const hub = createHub(store)
    let seq = 0
    const commit = async (): Promise<Frame> => {
      const { seq: _, ...event } = messageAt(seq + 1)
      const events: readonly NewEvent[] = [event as NewEvent]
      const create = { ownerId: parseOwnerId('o'), title: '', at: 1 }
      const planned = planCommit({ threadId, events, expectedSeq: seq, create })
      if ('kind' in planned) throw new Error(planned.kind)
      const [result] = await inner.commit([planned])
      if (result?.kind !== 'appended') throw new Error(result?.kind)
      seq++
      return toFrame([messageAt(seq)], result, planned)
    }
    const follow = (after: FollowedPlace) => {
      const stop = new AbortController()
      const got: number[] = []
      const done = (async () => {
        for await (const { changes } of hub.follow(threadId, after, stop.signal)) {
          got.push(...seqsOf(changes))
        }
        return 'ended'
      })().catch((error: unknown) => (error as Error).message)
      return { got, done, stop: () => stop.abort() }
    }
    return {
      hub,
      inner,
      reads,
      commit,
      follow,
      begin: () => void (seq = 0),
      /** A commit of this process, which delivers its frame. */
      commitHere: async () => {
        const deliver = hub.announce(threadId)
        deliver(await commit())
      },
    }
  }

  it('[RS2] get what this process commits without a read, and share one read of what others commit', async () => {
    const { hub, reads, commit, commitHere, follow } = open()
    await commit()
    const followers = [follow(0), follow(0), follow(1)]
    await settled()
    reads.length = 0
    await commitHere()
    await settled()
    expect(reads).toEqual([])
    await commit()
    await settled()
    expect(reads).toEqual([2])
    expect(followers.map(({ got }) => got)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [2, 3],
    ])
    expect(hub.followers).toBe(3)
    for (const { stop } of followers) stop()
    expect(await Promise.all(followers.map(({ done }) => done))).toEqual([
      'ended',
      'ended',
      'ended',
    ])
    expect(hub.followers).toBe(0)
  })

  it('[RS2] a late follower reads from the database what the window does not cover', async () => {
    const { hub, reads, commit, commitHere, follow } = open()
    await commit()
    await commit()
    const release = hub.keep(threadId)
    await commitHere()
    await settled()
    reads.length = 0
    const [late, near] = [follow(0), follow(2)]
    await settled()
    expect([late.got, near.got, reads]).toEqual([[1, 2, 3], [3], [0]])
    release()
    for (const { stop } of [late, near]) stop()
  })

  it('[RS2] followers read on after an announced commit that stored nothing', async () => {
    const { hub, commit, follow } = open()
    await commit()
    const follower = follow(0)
    await settled()
    const deliver = hub.announce(threadId)
    // A commit of another process, meanwhile.
    await commit()
    await settled()
    expect(follower.got).toEqual([1])
    deliver(null)
    await settled()
    expect(follower.got).toEqual([1, 2])
    follower.stop()
  })

  it('[RS2] reject when there is no such thread or place, and end with the thread', async () => {
    const { inner, commit, follow } = open()
    expect(await follow(0).done).toBe('There is no such thread.')
    await commit()
    expect(await follow(5).done).toBe('The thread ends at 1, before 5.')
    const follower = follow(0)
    await settled()
    await inner.deleteThread(threadId)
    expect(await follower.done).toBe('ended')
  })

  it('[RS2] of a thread that was created again see nothing of the one before', async () => {
    const { hub, inner, commit, commitHere, begin, follow } = open()
    const release = hub.keep(threadId)
    await commitHere()
    await commitHere()
    await inner.deleteThread(threadId)
    begin()
    const keepNew = hub.keep(threadId)
    await commitHere()
    const follower = follow(0)
    await settled()
    expect(follower.got).toEqual([1])
    await commit()
    await settled()
    expect(follower.got).toEqual([1, 2])
    follower.stop()
    release()
    keepNew()
  })

  it('[RS2] of a thread that was created again without a notification, likewise', async () => {
    const { hub, follow } = open()
    const release = hub.keep(threadId)
    hub.announce(threadId)(frame(0, 2))
    hub.announce(threadId)(frame(0, 1))
    const follower = follow({ seq: 0, incarnation: 'one' })
    await settled()
    expect(follower.got).toEqual([1])
    follower.stop()
    release()
  })

  it('[RS2] end when the hub closes, later ones at once', async () => {
    const { hub, commit, follow } = open()
    await commit()
    const follower = follow(1)
    await settled()
    hub.close()
    expect(await follower.done).toBe('ended')
    expect(await follow(1).done).toBe('ended')
  })
})
