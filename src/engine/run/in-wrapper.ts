import type { Clock } from '../clock.ts'
import type { RunHooks } from '../telemetry/hooks.ts'
import type { FailureTexts } from './failure-texts.ts'
import type { HostPatience } from './host-patience.ts'

/** How long a wrapper may go on after the work inside of it is over. */
const afterWorkMs = 2_000

export interface Wrapping {
  readonly clock: Clock
  readonly patience: HostPatience
  /** Called with what the wrapper throws after it has begun the work, which changes nothing but must not stay unknown (HT6). */
  readonly onFault: (thrown: unknown) => void
}

interface HookedRun extends Omit<Wrapping, 'onFault'> {
  readonly hooks: Pick<RunHooks, 'inside'>
  readonly failureTexts: Pick<FailureTexts, 'ofObserver'>
}

/** A step or a call inside of `hooks.inside`, where the host application has it. */
export async function inHooks<Result>(
  { hooks, clock, patience, failureTexts }: HookedRun,
  part: { readonly step: number } | { readonly callId: string },
  work: () => Promise<Result>,
): Promise<Result> {
  const { inside } = hooks
  if (inside === undefined) return work()
  const onFault = (thrown: unknown) => failureTexts.ofObserver('hooks.inside', thrown)
  return inWrapper({ clock, patience, onFault }, (begin) => inside(part, begin), work)
}

/**
 * Work of the engine inside of a wrapper of the host application, which traces it or gives it a context. What the work does
 * counts, whatever the wrapper does after it has begun: one that throws, returns something else or never ends is no reason to
 * lose the result of a tool that has run (CL5), or to keep everybody waiting who stops the turn (ST1). Work that the wrapper
 * does not begin is not done: it may have refused it.
 */
export async function inWrapper<Result>(
  { clock, patience, onFault }: Wrapping,
  wrap: (work: () => Promise<Result>) => unknown,
  work: () => Promise<Result>,
): Promise<Result> {
  let begun: Promise<Result> | undefined
  let isLeft = false
  let cancel = () => {}
  const over = Promise.withResolvers<void>()
  const limit = () => {
    if (!isLeft) cancel = clock.after(afterWorkMs, over.resolve)
  }
  const begin = (): Promise<Result> => {
    if (begun === undefined) {
      // After it was left the work has been done without it, or must not begin any more.
      begun = isLeft ? Promise.reject(new Error('The work is over.')) : work()
      begun.then(limit, limit)
    }
    return begun
  }
  /** What the work itself threw is no fault of the wrapper that passes it on. */
  const report = (thrown: unknown) =>
    begun?.then(
      () => onFault(thrown),
      (error: unknown) => {
        if (error !== thrown) onFault(thrown)
      },
    )
  const call = async () => wrap(begin)
  try {
    const called = call()
    // Also of a wrapper that was left.
    called.catch(report)
    await patience(Promise.race([called, over.promise]))
  } catch (error) {
    if (begun === undefined) throw error
  } finally {
    isLeft = true
    cancel()
  }
  if (begun === undefined) throw new Error('What is around steps and calls did not run this one.')
  return begun
}
