import type { Turn } from './message.ts'
import { addUsage, type Usage } from './usage.ts'

/** The totals of all model calls of a turn (LG11). */
export interface TurnTotals {
  /** Includes the steps that were broken off and run again: their tokens were billed too. */
  readonly steps: number
  readonly models: readonly string[]
  readonly usage: Usage
  /** The time in which a model was answering, without that of tools and of people. */
  readonly modelMs: number
}

/** The totals of a turn so far; an open step counts without its time and usage. */
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
