import type { ChangeNotification } from '../store.ts'
import type { Connection } from './connection.ts'
import { everything, parseNotifyPayload } from './notify-payload.ts'

export interface NotifyListener {
  start(): void
  /** Resolves when the connection, if there was one, is closed. */
  stop(): Promise<void>
  /** For how long it should have been listening and was not. */
  downMs(): number
}

export interface NotifyListenerOptions {
  /** Our own name: what we sent ourselves was told here directly. */
  readonly from: string
  readonly channel: string
  readonly connect: () => Promise<Connection>
  /** How long the server may take to answer. */
  readonly limitMs: number
  readonly post: (notifications: readonly ChangeNotification[]) => void
  readonly onError: (error: unknown) => void
}

const firstPauseMs = 50
const longestPauseMs = 5_000
/** Nobody speaks first on this connection: whether the server is still there has to be asked. */
const askEveryMs = 5_000
/** While nobody listens, everyone who follows looks for themselves so often. */
const pollEveryMs = 2_000

/** One connection that listens while somebody watches, and is made again whenever it breaks or falls silent. */
export function createNotifyListener(options: NotifyListenerOptions): NotifyListener {
  const { from, channel, connect, limitMs, post, onError } = options
  /** Null while nobody watches. */
  let line: Line | null = null

  interface Line {
    connection: Connection | undefined
    timer: NodeJS.Timeout | undefined
    pauseMs: number
    /** By `performance.now()`; null while it listens. */
    downSince: number | null
    readonly poll: NodeJS.Timeout
  }

  const listen = async (mine: Line): Promise<void> => {
    const isMine = () => line === mine
    let connection: Connection | undefined
    try {
      connection = await connect()
      if (!isMine()) return void connection.close()
      mine.connection = connection
      connection.onNotification((payload) => {
        const sent = parseNotifyPayload(payload)
        if (isMine() && sent !== undefined && sent.from !== from) post(sent.notifications)
      })
      await connection.query(`LISTEN "${channel}"`, limitMs)
      if (!isMine()) return
      mine.downSince = null
      mine.pauseMs = firstPauseMs
      connection.onEnd((error) => retry(mine, error))
      ask(mine, connection)
      // What was missed while nobody listened.
      post([everything])
    } catch (error) {
      connection?.drop()
      retry(mine, error)
    }
  }

  const retry = (mine: Line, error: unknown) => {
    if (line !== mine) return
    if (error !== undefined) onError(error)
    clearTimeout(mine.timer)
    mine.connection = undefined
    mine.downSince ??= performance.now()
    mine.timer = setTimeout(() => void listen(mine), mine.pauseMs)
    mine.pauseMs = Math.min(mine.pauseMs * 2, longestPauseMs)
  }

  /** To listen again changes nothing, and is answered. What does not answer is dropped, which ends it. */
  const ask = (mine: Line, connection: Connection) => {
    mine.timer = setTimeout(() => {
      connection.query(`LISTEN "${channel}"`, limitMs).then(
        () => {
          if (line === mine && mine.connection === connection) ask(mine, connection)
        },
        (error: unknown) => {
          if (line === mine) onError(error)
          connection.drop()
        },
      )
    }, askEveryMs)
  }

  return {
    start() {
      if (line !== null) return
      const mine: Line = {
        connection: undefined,
        timer: undefined,
        pauseMs: firstPauseMs,
        downSince: performance.now(),
        poll: setInterval(() => {
          if (mine.downSince !== null) post([everything])
        }, pollEveryMs).unref(),
      }
      line = mine
      void listen(mine)
    },
    async stop() {
      const ended = line
      line = null
      if (ended === null) return
      clearTimeout(ended.timer)
      clearInterval(ended.poll)
      await ended.connection?.close()
    },
    downMs() {
      const since = line?.downSince ?? null
      return since === null ? 0 : performance.now() - since
    },
  }
}
