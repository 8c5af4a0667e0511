import type { LifecycleEvent } from './hooks.ts'

/** Upper bounds of the buckets in milliseconds; one more bucket takes the rest. */
export const latencyEdgesMs = [1, 2, 5, 10, 25, 50, 100, 250, 1_000] as const

/** Counters of one process since its start. */
export interface Metrics {
  /** Turns that ended, by the kind of their end. */
  readonly turns: Readonly<Record<string, number>>
  /** Calls that ended, by their state. */
  readonly calls: Readonly<Record<string, number>>
  /** Writes to the store; each may hold appends of several threads. */
  readonly commits: number
  readonly committedEvents: number
  /** The number of commits per bucket of `latencyEdgesMs`, and the sum of their durations. */
  readonly commitLatency: { readonly atMost: readonly number[]; readonly sumMs: number }
  /** Runs that this process took over from one that died. */
  readonly takeovers: number
  /** Calls whose outcome is unknown, because their process died while they ran. */
  readonly unknownOutcomes: number
  readonly modelRetries: number
  /** Ends of calls that had ended already, or do not exist: ignored, wherever they came from. */
  readonly ignoredEnds: number
}

export interface MetricsCounter {
  count(event: LifecycleEvent): void
  read(): Metrics
}

export function createMetrics(): MetricsCounter {
  const turns: Record<string, number> = {}
  const calls: Record<string, number> = {}
  const atMost = latencyEdgesMs.map(() => 0)
  let commits = 0
  let committedEvents = 0
  let sumMs = 0
  let takeovers = 0
  let unknownOutcomes = 0
  let modelRetries = 0
  let ignoredEnds = 0
  const add = (counts: Record<string, number>, key: string) => {
    counts[key] = (counts[key] ?? 0) + 1
  }

  return {
    count(event) {
      switch (event.type) {
        case 'turn-started':
          if (event.how === 'taken-over') takeovers++
          return
        case 'turn-ended':
          return add(turns, event.ending)
        case 'call-ended':
          return add(calls, event.state)
        case 'outcome-unknown':
          unknownOutcomes++
          return
        case 'model-retried':
          modelRetries++
          return
        case 'end-ignored':
          ignoredEnds++
          return
        case 'committed':
          commits++
          committedEvents += event.events
          sumMs += event.ms
          for (const [index, edge] of latencyEdgesMs.entries()) {
            if (event.ms <= edge) atMost[index] = (atMost[index] ?? 0) + 1
          }
          break
        default:
      }
    },
    read: () => ({
      turns: { ...turns },
      calls: { ...calls },
      commits,
      committedEvents,
      commitLatency: { atMost: [...atMost], sumMs },
      takeovers,
      unknownOutcomes,
      modelRetries,
      ignoredEnds,
    }),
  }
}
