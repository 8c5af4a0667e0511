import pg from 'pg'

/** One connection of a pool that is kept from one statement to the next, as long as they follow closely. */
export interface ReconnectingConnection {
  query<Row extends object>(config: pg.QueryConfig): Promise<pg.QueryResult<Row>>
  /** Gives it back, now or after what is under way. */
  close(): void
}

const idleMs = 100

/**
 * To borrow a connection anew for each of many small commits is a good part of what they take. There is
 * one commit at a time; whoever comes meanwhile borrows another, and a pool of one is left to all.
 */
export function createReconnectingConnection(
  pool: pg.Pool,
  poolSize: number,
): ReconnectingConnection {
  let kept: pg.PoolClient | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let isBusy = false
  let isClosed = false

  const letGo = (isBroken = false) => {
    const client = kept
    kept = undefined
    clearTimeout(timer)
    // It is borrowed again and again in its life.
    client?.removeListener('end', drop).removeListener('error', drop)
    client?.release(isBroken)
  }
  const drop = () => letGo(true)
  const borrow = async (): Promise<pg.PoolClient> => {
    const client = await pool.connect()
    // One that has failed takes no more statements, and is at its end only a little later.
    return client.once('end', drop).once('error', drop)
  }

  return {
    async query<Row extends object>(config: pg.QueryConfig) {
      if (isBusy || isClosed || poolSize < 2) return pool.query<Row>(config)
      isBusy = true
      clearTimeout(timer)
      try {
        kept ??= await borrow()
        return await kept.query<Row>(config)
      } catch (error) {
        if (!isAnswer(error)) letGo(true)
        throw error
      } finally {
        isBusy = false
        if (isClosed || pool.waitingCount > 0) letGo()
        else if (kept !== undefined) timer = setTimeout(letGo, idleMs).unref()
      }
    },
    close() {
      isClosed = true
      if (!isBusy) letGo()
    },
  }
}

/** The server refused this statement; the connection is as good as before. */
const isAnswer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !/^(?:08|57)/.test(error.code ?? '08')
