import { errorTextOfThrown } from '../../core/error-text.ts'
import { callObserver } from '../../core/call-observer.ts'
import type { Hooks, LifecycleEvent } from './hooks.ts'
import { createOncePerMinute } from './once-per-minute.ts'

/**
 * A listener that cannot affect the work that it observes. What it throws is written to the standard error: the log that
 * other failures are reported to may be this listener.
 */
export function safely(hooks: Hooks | undefined, elapsedMs = () => performance.now()): Hooks {
  const isDue = createOncePerMinute(elapsedMs)
  const report = ({ type }: LifecycleEvent, thrown: unknown) => {
    if (!isDue(type)) return
    const reason = errorTextOfThrown(thrown) || 'it gave no reason'
    // oxlint-disable-next-line no-console -- the last resort: an error that is not reported anywhere cannot be fixed
    console.error(`holdfast: hooks failed at ${type}: ${reason}`)
  }
  return (event) =>
    callObserver(
      () => hooks?.(event),
      (thrown) => report(event, thrown),
    )
}
