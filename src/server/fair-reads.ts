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
/**
 * What the reads of an owner took of the process, everybody else gets after them: a loop that does a large read in each
 * of its turns takes one new connection in each, and somebody else's stands behind all that one person opened.
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
   * Owners with a read under way, or at rest after one. What is made of a read is work of the one thread too: two at
   * once are one long pause for everybody else.
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
   * Also where nobody waits: a follower asks for its next read only when it has sent the one before, and its
   * reads would be one piece of work without a turn of the loop between them.
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
          // Async, so that a read which throws at once gives its place back too.
          const begin = async () => read()
          lane.push(() => begin().then(resolve, reject))
          lanes.set(ownerId, lane)
          // A read that came while others wait has its turn among them.
          if (!isDue) runAll()
        }),
  }
}
