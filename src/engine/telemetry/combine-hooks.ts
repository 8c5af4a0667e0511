import type { Hooks, LifecycleEvent } from './hooks.ts'
import { safely } from './safely.ts'

/** Combines several listeners into one; a listener that throws does not affect the others. */
export function combineHooks(...hooks: readonly (Hooks | undefined)[]): Hooks {
  const guarded = hooks.filter((each) => each !== undefined).map((each) => safely(each))
  const all = (event: LifecycleEvent) => {
    for (const hook of guarded) hook(event)
  }
  // A turn has one trace: it is created by the first listener that can.
  const tracing = hooks.find((each) => each?.openTrace !== undefined || each?.inside !== undefined)
  const { openTrace, inside } = tracing ?? {}
  return Object.assign(all, openTrace && { openTrace }, inside && { inside })
}
