import type { Random } from '../random.ts'

/** Virtual time. Among the tasks that are ready the seed picks the next; nothing else decides an order. */
export interface Scheduler {
  readonly now: () => number
  readonly steps: number
  readonly trace: readonly string[]
  /** Runs once, not before `delayMs` have passed; the returned function cancels. */
  schedule(owner: string, label: string, delayMs: number, run: () => void): () => void
  /** Removes all tasks of this owner and refuses new ones: its process is dead. */
  drop(owner: string): void
  /** Delays all tasks of this owner, as a long pause of its machine does. */
  freeze(owner: string, ms: number): void
  thaw(): void
  /** Adds a line to the trace. */
  note(line: string): void
  /** Runs one task and the promises that follow from it; false if none is ready before `until`. */
  step(until: number): Promise<boolean>
}

interface Task {
  readonly at: number
  readonly owner: string
  readonly label: string
  readonly run: () => void
}

const beginning = 1_770_000_000_000

export function createScheduler(random: Random): Scheduler {
  const tasks: Task[] = []
  const frozen = new Map<string, number>()
  const gone = new Set<string>()
  const trace: string[] = []
  let now = beginning
  let steps = 0

  const readyAt = (task: Task): number => Math.max(task.at, frozen.get(task.owner) ?? 0)

  /** Takes a random one of the tasks that are ready soonest, and advances time to it. */
  const removeNext = (until: number): Task | undefined => {
    let ready: number[] = []
    let soonest = Number.POSITIVE_INFINITY
    for (const [index, task] of tasks.entries()) {
      const at = Math.max(now, readyAt(task))
      if (at > soonest) continue
      if (at < soonest) ready = []
      soonest = at
      ready.push(index)
    }
    if (ready.length === 0 || soonest > until) return undefined
    now = soonest
    return tasks.splice(random.pick(ready), 1)[0]
  }

  const note = (line: string) => trace.push(`${now - beginning} ${line}`)

  return {
    now: () => now,
    get steps() {
      return steps
    },
    trace,
    note,
    schedule(owner, label, delayMs, run) {
      if (gone.has(owner)) return () => {}
      const task = { at: now + delayMs, owner, label, run }
      tasks.push(task)
      return () => {
        const index = tasks.indexOf(task)
        if (index >= 0) tasks.splice(index, 1)
      }
    },
    drop(owner) {
      gone.add(owner)
      const kept = tasks.filter((task) => task.owner !== owner)
      tasks.splice(0, tasks.length, ...kept)
    },
    freeze(owner, ms) {
      frozen.set(owner, now + ms)
    },
    thaw() {
      frozen.clear()
    },
    async step(until) {
      const task = removeNext(until)
      if (task === undefined) return false
      steps++
      note(`${task.owner}: ${task.label}`)
      task.run()
      await drained()
      return true
    },
  }
}

/**
 * A tick runs when no promise can continue, so after a few of them all promise work of a task is done, and after a turn
 * of the event loop also what was deferred until then. Code that waits for real time or for another thread would not be
 * done; then the seed would not decide the order.
 */
async function drained(): Promise<void> {
  await ticks()
  await new Promise<void>((resolve) => {
    setImmediate(resolve)
  })
  await ticks()
}

async function ticks(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await new Promise<void>((resolve) => {
      process.nextTick(resolve)
    })
  }
}

let users = 0

/**
 * Two things happen at times that no seed decides: weakly referenced objects disappear with a garbage collection, and
 * work is split when a slice of real time is over. While a simulation runs, a weak reference holds its target, and
 * `performance.now` does not advance.
 */
export async function withExactMoments<Result>(work: () => Promise<Result>): Promise<Result> {
  if (users++ === 0) {
    const begun = performance.now()
    Object.defineProperty(performance, 'now', { configurable: true, value: () => begun })
    globalThis.WeakRef = HeldRef
  }
  try {
    return await work()
  } finally {
    if (--users === 0) {
      // The real function is on the prototype.
      Reflect.deleteProperty(performance, 'now')
      globalThis.WeakRef = collectedRef
    }
  }
}

const collectedRef = globalThis.WeakRef

class HeldRef<Target extends WeakKey> implements WeakRef<Target> {
  readonly [Symbol.toStringTag] = 'WeakRef'
  readonly #target: Target
  constructor(target: Target) {
    this.#target = target
  }
  deref(): Target {
    return this.#target
  }
}
