import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createScriptedClock, settled } from '../../../test/support/scripted-clock.ts'
import { numberEvents } from '../../core/event.ts'
import { parseMessageId, parseOwnerId, parseThreadId, type ThreadId } from '../../core/ids.ts'
import { memory } from '../../store/memory/memory-store.ts'
import { planCommit } from '../../store/plan-commit.ts'
import type { ChangeNotification, Store } from '../../store/store.ts'
import { createRandom, type Random } from '../../testing/random.ts'
import { createHub, type ReadGate } from './hub.ts'
import { toFrame } from './live-window.ts'

const threadId = parseThreadId('t')

/** Each read in a turn of the event loop of its own, as `FairReads` has it: a loop without an end does not block the test. */
const gate: ReadGate = async (read) => {
  await setImmediate()
  return read()
}

interface Follower {
  readonly after: number
  readonly got: number[]
  /** Of which of the threads that have had the id. */
  readonly thread: number
  /** It joined those of the deleted thread, of whose deletion this process had not heard: it ends with them. */
  readonly isAmongOld: boolean
  hasEnded: boolean
  readonly leave: () => void
}

interface Played {
  readonly followers: readonly Follower[]
  /** The last seq of each thread that has had the id. */
  readonly ends: readonly number[]
}

/**
 * One process with followers, and another one that writes to the same thread and may delete it and create it again.
 * The notification of a change may be lost, that of a deletion may be late.
 */
async function play(random: Random, isDeleted: boolean): Promise<Played> {
  const inner = memory()
  const clock = createScriptedClock()
  let notify: (notification: ChangeNotification) => void = () => undefined
  const store: Store = {
    ...inner,
    watch(listener) {
      notify = listener
      return () => undefined
    },
    async readSeqs(ids: readonly ThreadId[]) {
      const threads = await Promise.all(ids.map((id) => inner.readThread(id)))
      return new Map(threads.flatMap((found) => (found === null ? [] : [[found.id, found.seq]])))
    },
  }
  const hub = createHub(store, clock)
  let end = 0
  const ends: number[] = []
  const late: (() => void)[] = []
  const commit = async () => {
    const text = 'x'.repeat(random.pick([1, 1, 1_000, 60_000]))
    const events = Array.from({ length: random.pick([1, 1, 3, 200]) }, (_, index) => ({
      ...({ type: 'message-added', at: 1, role: 'user' } as const),
      messageId: parseMessageId(`u${end + index}`),
      parts: index === 0 ? [{ type: 'text', text } as const] : [],
    }))
    const create = { ownerId: parseOwnerId('o'), title: '', at: 1 }
    const planned = planCommit({ threadId, events, expectedSeq: end, create })
    if ('kind' in planned) throw new Error(planned.kind)
    const [result] = await inner.commit([planned])
    if (result?.kind !== 'appended') throw new Error(result?.kind)
    end = result.seq
    return toFrame(numberEvents(events, result.firstSeq), result, planned)
  }
  const followers: Follower[] = []
  const inFlight: (() => void)[] = []
  const held: (() => void)[] = []
  const actions = {
    async 'a commit of this process'() {
      const deliver = hub.announce(threadId)
      const frame = await commit()
      // In order: the frames of a thread are delivered as they were committed.
      inFlight.push(() => deliver(frame))
    },
    async 'a commit of this process is delivered'() {
      inFlight.shift()?.()
    },
    async 'a commit of another process'() {
      await commit()
      if (random.chance(0.5)) notify({ threadId, seq: end })
    },
    async 'the listener is back'() {
      notify({ threadId: null, seq: 0 })
    },
    async 'a run of this process begins or ends'() {
      if (random.chance(0.5)) held.push(hub.keep(threadId))
      else held.shift()?.()
    },
    async 'somebody follows'() {
      const controller = new AbortController()
      const leave = () => controller.abort()
      const after = random.int(end + 1)
      const thread = ends.length
      const isOld = (other: Follower) => other.thread < thread && !other.hasEnded
      const isAmongOld = late.length > 0 && (held.length > 0 || followers.some(isOld))
      const follower = { after, got: [] as number[], thread, isAmongOld, hasEnded: false, leave }
      followers.push(follower)
      void (async () => {
        for await (const { changes } of hub.follow(threadId, after, controller.signal, gate)) {
          follower.got.push(...changes.map(({ seq }) => seq))
        }
        follower.hasEnded = !controller.signal.aborted
      })()
      // A bare seq does not tell which thread it belongs to, so the first read must be of this one.
      await settled()
    },
    async 'a follower leaves'() {
      followers.splice(random.int(followers.length), 1)[0]?.leave()
    },
    async 'time passes'() {
      await clock.advance(random.int(2_000))
    },
    async 'a late notification arrives'() {
      late.shift()?.()
    },
    async 'the thread is deleted and created again'() {
      if (!isDeleted) return
      // The order of the commits of this process and of their frames is not in question here.
      for (const deliver of inFlight.splice(0)) deliver()
      await settled()
      const incarnation = (await inner.readPlace?.(threadId, 0))?.incarnation ?? ''
      await inner.deleteThread(threadId)
      ends.push(end)
      end = 0
      late.push(() => notify({ threadId, seq: 0, incarnation }))
      if (random.chance(0.3)) late.pop()?.()
      await commit()
    },
  }
  await commit()
  for (let step = 0; step < 60; step++) {
    await random.pick(Object.values(actions))()
    if (random.chance(0.7)) await settled()
  }
  for (const arrive of late) arrive()
  // What is in flight never ends: another process has taken over.
  await clock.advance(15_000)
  for (let round = 0; round < 20; round++) await settled()
  for (const { leave } of followers) leave()
  await settled()
  return { followers, ends: [...ends, end] }
}

const between = (after: number, end: number): readonly number[] =>
  Array.from({ length: Math.max(0, end - after) }, (_, index) => after + index + 1)

it('[RS2 RS7] every follower gets every change once, whoever commits and whatever notification is lost', async () => {
  let followed = 0
  for (let seed = 1; seed <= 150; seed++) {
    const { followers, ends } = await play(createRandom(seed), false)
    for (const { got, after } of followers) {
      followed++
      expect(got, `seed ${seed}, after ${after}`).toEqual(between(after, ends[0] ?? 0))
    }
  }
  expect(followed).toBeGreaterThan(100)
})

it('[OP6] a follower gets changes of one thread only, and ends with it, though another has its id now', async () => {
  let ended = 0
  let stayed = 0
  for (let seed = 1; seed <= 150; seed++) {
    const { followers, ends } = await play(createRandom(seed), true)
    for (const { got, after, thread, isAmongOld, hasEnded } of followers) {
      if (isAmongOld) continue
      const isLast = thread === ends.length - 1
      const at = isLast ? (ends[thread] ?? 0) : (got.at(-1) ?? after)
      expect({ got, hasEnded }, `seed ${seed}, thread ${thread}, after ${after}`).toEqual({
        got: between(after, at),
        hasEnded: !isLast,
      })
      expect(at).toBeLessThanOrEqual(ends[thread] ?? 0)
      if (isLast) stayed++
      else ended++
    }
  }
  expect(ended).toBeGreaterThan(50)
  expect(stayed).toBeGreaterThan(50)
})
