import type { Turn } from './message.ts'
import { addUsage, type Usage } from './usage.ts'

/** What all model calls of a turn took together (LG11). */
export interface TurnTotals {
  /** Those that were broken off and run again count too: they were paid for. */
  readonly steps: number
  readonly models: readonly string[]
  readonly usage: Usage
  /** While a model was answering; the time of tools and of people is not in it. */
  readonly modelMs: number
}

export function totalsOf({ steps }: Turn): TurnTotals {
  const models = new Set<string>()
  let usage: Usage = {}
  let modelMs = 0
  for (const step of steps) {
    if (step.model !== undefined) models.add(step.model)
    if (step.status === 'open') continue
    modelMs += step.endedAt - step.startedAt
    if (step.status === 'ended') usage = addUsage(usage, step.usage)
  }
  return { steps: steps.length, models: [...models], usage, modelMs }
}
