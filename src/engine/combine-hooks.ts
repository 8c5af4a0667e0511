import { type Hooks, type LifecycleEvent, safely } from './hooks.ts'

/** Several listeners as one; one that throws keeps nothing from the others. */
export function combineHooks(...hooks: readonly (Hooks | undefined)[]): Hooks {
  const guarded = hooks.filter((each) => each !== undefined).map(safely)
  const all = (event: LifecycleEvent) => {
    for (const hook of guarded) hook(event)
  }
  // A turn has one trace: the first that makes one does.
  const tracing = hooks.find((each) => each?.openTrace !== undefined || each?.inside !== undefined)
  const { openTrace, inside } = tracing ?? {}
  return Object.assign(all, openTrace && { openTrace }, inside && { inside })
}
