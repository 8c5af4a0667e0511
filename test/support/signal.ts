/** Wakes whoever waits for a condition, each time that something happened which may have made it true. */
export interface Signal {
  /** Something happened. */
  readonly notify: () => void
  /** Resolves once it fits. It is looked at now and after each `notify`; the test's own limit ends a wait for nothing. */
  until(fits: () => boolean): Promise<void>
}

export function createSignal(): Signal {
  let next = Promise.withResolvers<void>()
  return {
    notify() {
      next.resolve()
      next = Promise.withResolvers<void>()
    },
    async until(fits) {
      while (!fits()) await next.promise
    },
  }
}
