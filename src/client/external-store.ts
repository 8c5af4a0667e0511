/** A value that can be subscribed to: what `useSyncExternalStore` and every other framework can bind to. */
export interface ExternalStore<Value> {
  /** The same object as before while nothing changed. */
  readonly getSnapshot: () => Value
  /**
   * The listener is called after each change until the returned function is called. The first listener starts the work,
   * the last one ends it.
   */
  readonly subscribe: (listener: () => void) => () => void
}

/** A store that can also be observed without keeping it active. */
export interface ObservableStore<Value> extends ExternalStore<Value> {
  /** Like `subscribe`, but does not count as a subscriber: without any subscriber the store does no work. */
  readonly observe: (listener: () => void) => () => void
}

export interface WritableStore<Value> extends ObservableStore<Value> {
  readonly update: (change: (value: Value) => Value) => void
}

/** `onWatched` runs with the first listener; its returned function runs after the last one is gone. */
export function createExternalStore<Value>(
  initial: Value,
  onWatched: () => () => void = () => () => {},
): WritableStore<Value> {
  const listeners = new Set<() => void>()
  const observers = new Set<() => void>()
  let value = initial
  let release = () => {}
  return {
    getSnapshot: () => value,
    subscribe(listener) {
      const own = () => listener()
      listeners.add(own)
      if (listeners.size === 1) release = onWatched()
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        release()
      }
    },
    observe(listener) {
      const own = () => listener()
      observers.add(own)
      return () => void observers.delete(own)
    },
    update(change) {
      const next = change(value)
      if (next === value) return
      value = next
      for (const listener of [...listeners, ...observers]) callSafely(listener)
    },
  }
}

/** A listener that throws affects neither the others nor the code that made the change; its error is reported. */
function callSafely(listener: () => void): void {
  try {
    listener()
  } catch (error) {
    if (typeof globalThis.reportError === 'function') globalThis.reportError(error)
    else
      queueMicrotask(() => {
        throw error
      })
  }
}
