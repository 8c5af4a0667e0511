import type { Random } from '../random.ts'

/** Virtual time. Whatever is ready, the seed picks what runs next; nothing else decides an order. */
export interface Scheduler {
  readonly now: () => number
  readonly steps: number
  readonly trace: readonly string[]
  /** Runs once, not before `delayMs` have passed; the returned function cancels. */
  schedule(owner: string, label: string, delayMs: number, run: () => void): () => void
  /** Whatever this owner had to do, it never will. */
  drop(owner: string): void
  /** Nothing of this owner runs for a while, as in a long pause of its machine. */
  freeze(owner: string, ms: number): void
  thaw(): void
  /** Adds a line to the trace. */
  note(line: string): void
  /** Runs one thing and all that follows from it at once; false if nothing is ready before `until`. */
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

  /** The task that the seed picks among those that are ready, moving time on if none is. */
  const take = (until: number): Task | undefined => {
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
      const task = take(until)
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
 * Ticks run when no promise is left to go on, so after a few of them nothing moves any more. What
 * waits for real time or another thread would still be under way: simulated code must not.
 */
async function drained(): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await new Promise<void>((resolve) => {
      process.nextTick(resolve)
    })
  }
}
