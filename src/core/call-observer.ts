/**
 * Calls a function of the host application that only observes, and for whose end nobody waits. What it throws goes to
 * `onThrown`, also where it is asynchronous: a rejection that nobody handles would end the process, and with it the streams
 * of everybody.
 */
export function callObserver(call: () => unknown, onThrown: (thrown: unknown) => void): void {
  try {
    const returned = call()
    if (isThenable(returned)) returned.then(undefined, onThrown)
  } catch (thrown) {
    onThrown(thrown)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
