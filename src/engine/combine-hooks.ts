import { type Hooks, safely } from './hooks.ts'

/** Several listeners as one; one that throws keeps nothing from the others. */
export function combineHooks(...hooks: readonly (Hooks | undefined)[]): Hooks {
  const guarded = hooks.filter((each) => each !== undefined).map(safely)
  return (event) => {
    for (const hook of guarded) hook(event)
  }
}
