import type { Connection } from './connection.ts'

/** The one connection that is reserved for commits. */
export interface WriterConnection {
  /**
   * Null: it is in use or cannot be opened, and the caller has to use the pool. Rejects if the pool has no
   * connection either.
   */
  acquire(hasOther: () => boolean): Promise<Connection | null>
  release(): void
  close(): Promise<void>
}

export function createWriterConnection(
  open: () => Promise<Connection>,
  isSuspect: (connection: Connection) => boolean,
  idleMs: number,
): WriterConnection {
  let kept: Connection | undefined
  let isBusy = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let onFree = () => {}
  const letGo = async () => {
    const connection = kept
    kept = undefined
    clearTimeout(timer)
    await connection?.close()
  }
  return {
    async acquire(hasOther) {
      if (isBusy || isClosed) return null
      isBusy = true
      // In use it is not idle: the timer of its last use would close it under this commit, whose fate is then unknown.
      clearTimeout(timer)
      if (kept !== undefined && isSuspect(kept)) {
        kept.drop()
        kept = undefined
      }
      try {
        kept ??= await open()
        return kept
      } catch (error) {
        isBusy = false
        onFree()
        if (hasOther()) return null
        throw error
      }
    },
    release() {
      isBusy = false
      onFree()
      if (!isClosed) timer = setTimeout(() => void letGo(), idleMs).unref()
    },
    async close() {
      isClosed = true
      if (isBusy) {
        await new Promise<void>((resolve) => {
          onFree = resolve
        })
      }
      await letGo()
    },
  }
}
