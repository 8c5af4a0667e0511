/** A clock that stands until it is moved. Fits the engine and the client. */
export interface ScriptedClock {
  readonly now: () => number
  readonly after: (ms: number, call: () => void) => () => void
  readonly soon: (call: () => void) => void
  /** How far away each timer is that has been set, the nearest first. */
  readonly timers: () => readonly number[]
  /** Runs what falls due, in order, each with all that follows from it. */
  readonly advance: (ms: number) => Promise<void>
}

export function createScriptedClock(start = 1_760_000_000_000): ScriptedClock {
  let now = start
  let count = 0
  const timers = new Map<number, { readonly at: number; readonly call: () => void }>()
  const inOrder = () => [...timers].toSorted(([a, left], [b, right]) => left.at - right.at || a - b)
  return {
    now: () => now,
    after(ms, call) {
      const id = count++
      timers.set(id, { at: now + ms, call })
      return () => void timers.delete(id)
    },
    soon: (call) => void setImmediate(call),
    timers: () => inOrder().map(([, { at }]) => at - now),
    async advance(ms) {
      const end = now + ms
      await settled()
      for (;;) {
        const [next] = inOrder()
        if (next === undefined || next[1].at > end) break
        timers.delete(next[0])
        now = next[1].at
        next[1].call()
        await settled()
      }
      now = end
    },
  }
}

/** Everything that can go on without a clock or another answer has gone on. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 8; round++) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}
