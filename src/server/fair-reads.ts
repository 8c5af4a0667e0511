import type { ReadGate } from '../engine/hub.ts'

/**
 * Reads of what may be large, a few at a time, the owners in turns: whoever asks for much waits for
 * themselves, and between two reads the process does something else (OP7a).
 */
export interface FairReads {
  gateOf(ownerId: string): ReadGate
  /** Somebody may have room again. */
  wake(): void
}

/** The rest of the connections to a database is for those who write. */
const atOnce = 4
/** What is made of a read is work of the one thread too: two at once are one long pause for everybody else. */
const atOncePerOwner = 1

export function createFairReads(hasRoom: (ownerId: string) => boolean): FairReads {
  /** In the order in which owners come next. */
  const lanes = new Map<string, (() => Promise<void>)[]>()
  const running = new Map<string, number>()
  let total = 0
  let isDue = false

  const mayRun = (ownerId: string) =>
    (running.get(ownerId) ?? 0) < atOncePerOwner && hasRoom(ownerId)

  const runNext = (): boolean => {
    if (total >= atOnce) return false
    for (const [ownerId, lane] of lanes) {
      if (!mayRun(ownerId)) continue
      const read = lane.shift()
      lanes.delete(ownerId)
      if (read === undefined) continue
      if (lane.length > 0) lanes.set(ownerId, lane)
      total++
      running.set(ownerId, (running.get(ownerId) ?? 0) + 1)
      void read().finally(() => {
        total--
        const left = (running.get(ownerId) ?? 1) - 1
        if (left === 0) running.delete(ownerId)
        else running.set(ownerId, left)
        wake()
      })
      return true
    }
    return false
  }
  const runAll = () => {
    while (runNext());
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
          // Async, so that a read which throws at once gives its place back too.
          const begin = async () => read()
          lane.push(() => begin().then(resolve, reject))
          lanes.set(ownerId, lane)
          // A read that came while others wait has its turn among them.
          if (!isDue) runAll()
        }),
  }
}
