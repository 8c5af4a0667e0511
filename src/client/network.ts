/** Time as a client sees it. A test replaces it, and controls when something happens. */
export interface ClientClock {
  /** Milliseconds, of which only differences count. */
  readonly now: () => number
  /** Calls once after `ms`; the returned function cancels. */
  readonly after: (ms: number, call: () => void) => () => void
}

/** The clock and timers of the system. */
export const systemClock: ClientClock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}

/** The network status that the device reports. */
export interface Connectivity {
  readonly isOnline: () => boolean
  /** Calls at each change; the returned function ends it. */
  readonly watch: (onChange: () => void) => () => void
}

/** Outside a browser every device counts as online. */
export const browserConnectivity: Connectivity = {
  isOnline: () => globalThis.navigator?.onLine !== false,
  watch(onChange) {
    globalThis.addEventListener?.('online', onChange)
    globalThis.addEventListener?.('offline', onChange)
    return () => {
      globalThis.removeEventListener?.('online', onChange)
      globalThis.removeEventListener?.('offline', onChange)
    }
  },
}

/** The state of the network. Outside a browser, only silence indicates that a connection is dead. */
export interface Network {
  readonly isOnline: () => boolean
  /** Calls `cut` when an open connection is dead. */
  readonly guard: (cut: () => void) => ConnectionGuard
  /** Resolves early when the network comes back, and at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

/** Watches one open connection. */
export interface ConnectionGuard {
  /** Called when something arrives. */
  readonly heard: () => void
  readonly release: () => void
}

/** The server sends something at least every 15 seconds; after three times that without data the connection is dead. */
const silenceMs = 45_000

export function createNetwork(
  clock: ClientClock = systemClock,
  connectivity: Connectivity = browserConnectivity,
): Network {
  return {
    isOnline: connectivity.isOnline,

    guard(cut) {
      let cancel = clock.after(silenceMs, cut)
      const unwatch = connectivity.watch(() => {
        if (!connectivity.isOnline()) cut()
      })
      return {
        heard() {
          cancel()
          cancel = clock.after(silenceMs, cut)
        },
        release() {
          cancel()
          unwatch()
        },
      }
    },

    wait(ms, signal) {
      // An aborted signal does not fire again, and the timer would outlive the caller.
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const done = () => {
          cancel()
          unwatch()
          signal.removeEventListener('abort', done)
          resolve()
        }
        const cancel = clock.after(ms, done)
        const unwatch = connectivity.watch(() => {
          if (connectivity.isOnline()) done()
        })
        signal.addEventListener('abort', done)
      })
    },
  }
}
