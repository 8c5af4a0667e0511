import type { Clock } from '../clock.ts'
import type { HostPatience } from './host-patience.ts'

/** How long a wrapper may go on after the work inside of it is over. */
const afterWorkMs = 2_000

/**
 * Work of the engine inside of a wrapper of the host application, which traces it or gives it a context. What the work does
 * counts, whatever the wrapper does after it has begun: one that throws, returns something else or never ends is no reason to
 * lose the result of a tool that has run (CL5), or to keep everybody waiting who stops the turn (ST1). Work that the wrapper
 * does not begin is not done: it may have refused it.
 */
export async function inWrapper<Result>(
  { clock, patience }: { readonly clock: Clock; readonly patience: HostPatience },
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
  const call = async () => wrap(begin)
  try {
    await patience(Promise.race([call(), over.promise]))
  } catch (error) {
    if (begun === undefined) throw error
  } finally {
    isLeft = true
    cancel()
  }
  if (begun === undefined) throw new Error('What is around steps and calls did not run this one.')
  return begun
}
