/** Time as a client sees it. A test puts its own in, and then decides when something happens. */
export interface ClientClock {
  /** Milliseconds, of which only differences count. */
  readonly now: () => number
  /** Calls once after `ms`; the returned function cancels. */
  readonly after: (ms: number, call: () => void) => () => void
}

export const systemClock: ClientClock = {
  now: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  },
}

/** What the device says of its network. */
export interface Connectivity {
  readonly isOnline: () => boolean
  /** Calls at each change; the returned function ends it. */
  readonly watch: (onChange: () => void) => () => void
}

/** Outside a browser every device is online, as far as anybody says. */
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

/** What a page knows of its network. Outside a browser, only silence tells. */
export interface Network {
  readonly isOnline: () => boolean
  /** Calls `cut` when a connection is of no use any more, though nobody ended it. */
  readonly guard: (cut: () => void) => ConnectionGuard
  /** Ends early when the network comes back, and at once when the signal aborts. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export interface ConnectionGuard {
  /** Something came. */
  readonly heard: () => void
  readonly release: () => void
}

/** The server says something at least every 15 seconds; after three silences the line is dead. */
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
      // It would never abort again, and the timer would outlive whoever waits.
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
