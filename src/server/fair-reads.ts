import type { ReadGate } from '../engine/follow/hub.ts'

/**
 * Schedules reads that may be large, a few at a time and round-robin over owners: an owner with many reads delays only
 * itself, and between two reads the process does other work (OP7a).
 */
export interface FairReads {
  gateOf(ownerId: string): ReadGate
  /** Capacity may have become free. */
  wake(): void
}

/** The remaining connections to the database are for writers. */
const atOnce = 4
/**
 * After a read, its owner rests for as long as the read used the CPU: an event loop that does a large read in each tick
 * accepts one new connection per tick, and other owners would wait behind all that one owner opened.
 */
const longestRestMs = 100
const shortMs = 2

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

export function createFairReads(hasRoom: (ownerId: string) => boolean): FairReads {
  /** In the order in which owners come next. */
  const lanes = new Map<string, (() => Promise<void>)[]>()
  /**
   * Owners with a read in flight, or at rest after one. Processing a result also blocks the event loop: two results of
   * one owner at once would be one long pause for everybody else.
   */
  const busy = new Set<string>()
  let total = 0
  let isDue = false

  const runNext = (): boolean => {
    if (total >= atOnce) return false
    for (const [ownerId, lane] of lanes) {
      if (busy.has(ownerId) || !hasRoom(ownerId)) continue
      const read = lane.shift()
      lanes.delete(ownerId)
      if (read === undefined) continue
      if (lane.length > 0) lanes.set(ownerId, lane)
      total++
      busy.add(ownerId)
      const begun = cpuMs()
      void read().finally(() => {
        total--
        rest(ownerId, begun)
        wake()
      })
      return true
    }
    return false
  }
  const runAll = () => {
    while (runNext());
  }
  /**
   * Also if no other owner waits: a follower requests its next read only when it has sent the previous one, so its
   * reads would run without a tick of the event loop between them.
   */
  const rest = (ownerId: string, begun: number) => {
    const end = () => {
      busy.delete(ownerId)
      runAll()
    }
    setImmediate(() => {
      const restMs = Math.min(cpuMs() - begun, longestRestMs)
      if (restMs < shortMs) end()
      else setTimeout(end, restMs)
    })
  }
  const wake = () => {
    if (isDue || lanes.size === 0) return
    isDue = true
    setImmediate(() => {
      isDue = false
      runAll()
    })
  }

  return {
    wake,
    gateOf:
      (ownerId) =>
      <Result>(read: () => Promise<Result>) =>
        new Promise<Result>((resolve, reject) => {
          const lane = lanes.get(ownerId) ?? []
          // Async, so that a read which throws synchronously releases its slot too.
          const begin = async () => read()
          lane.push(() => begin().then(resolve, reject))
          lanes.set(ownerId, lane)
          // A read that arrives while others wait is scheduled among them.
          if (!isDue) runAll()
        }),
  }
}
