import type { ConnectionGuard } from './follow-thread.ts'

/** The server says something at least every 15 seconds; after three silences the line is dead. */
const silenceMs = 45_000

/** What a page knows of its network. Outside a browser, only silence tells. */
export interface Network {
  readonly isOnline: () => boolean
  readonly guard: (cut: () => void) => ConnectionGuard
  /** Ends early when the network comes back. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>
}

export const browserNetwork: Network = {
  isOnline: () => globalThis.navigator?.onLine !== false,

  guard(cut) {
    let timer = setTimeout(cut, silenceMs)
    globalThis.addEventListener?.('offline', cut)
    return {
      heard() {
        clearTimeout(timer)
        timer = setTimeout(cut, silenceMs)
      },
      release() {
        clearTimeout(timer)
        globalThis.removeEventListener?.('offline', cut)
      },
    }
  },

  wait: (ms, signal) =>
    new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        globalThis.removeEventListener?.('online', done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, ms)
      globalThis.addEventListener?.('online', done)
      signal.addEventListener('abort', done)
    }),
}
