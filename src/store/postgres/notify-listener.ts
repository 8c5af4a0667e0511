import type { ChangeNotification } from '../store.ts'
import { answerWithin, type Connection } from './connection.ts'
import { everything, parseNotifyPayload, toProbePayload } from './notify-publisher.ts'

export interface NotifyListener {
  start(): void
  /** Resolves when the connection, if there was one, is closed. */
  stop(): Promise<void>
  readonly state: ListenerState
  /** For how long it should have been listening and was not. Where it cannot, 0. */
  downMs(): number
}

/** `listening`: changes of other processes are heard of. `down`: not yet, or not now. `deaf`: not at this address. */
export type ListenerState = 'listening' | 'down' | 'deaf'

export interface NotifyListenerOptions {
  /** Our own name: what we sent ourselves was told here directly. */
  readonly from: string
  readonly channel: string
  readonly connect: () => Promise<Connection>
  /** Sends a text to the channel by the way that changes are sent. */
  readonly notify: (payload: string) => Promise<unknown>
  /** Called with why nothing can be heard at the address, each time that this is found. */
  readonly onDeaf: (reason: DeafReason) => void
  /** How long the server may take to answer. */
  readonly limitMs: number
  readonly post: (notifications: readonly ChangeNotification[]) => void
  readonly onError: (error: unknown) => void
}

/**
 * `pooled`: a pooler shares its connections, so that what listens on one is not there for the next transaction.
 * `unheard`: what was sent did not come: another server, another database, or a pooler that hides that it is one.
 */
export type DeafReason = 'pooled' | 'unheard'

const firstPauseMs = 50
const longestPauseMs = 5_000
/** Where nothing can be heard it is tried again so often: somebody may have changed what the address leads to. */
const deafPauseMs = 60_000
const mostUnheard = 2
/** Nobody speaks first on this connection: whether the server is still there has to be asked. */
const probeEveryMs = 5_000

/**
 * One connection that listens while somebody watches, and is made again whenever it breaks or falls silent. That
 * it hears is not believed but tried: it sends itself a text by the way that others send theirs.
 */
export function createNotifyListener(options: NotifyListenerOptions): NotifyListener {
  const { from, channel, connect, notify, onDeaf, limitMs, post, onError } = options
  /** Null while nobody watches. */
  let line: Line | null = null

  interface Line {
    connection: Connection | undefined
    timer: NodeJS.Timeout | undefined
    pauseMs: number
    /** By `performance.now()`; null while it listens. */
    downSince: number | null
    isDeaf: boolean
    /** How often in a row its own text did not come: once may be a bad moment of the network. */
    unheard: number
  }

  const listen = async (mine: Line): Promise<void> => {
    const isMine = () => line === mine
    let connection: Connection | undefined
    try {
      connection = await connect()
      if (!isMine()) return void connection.close()
      mine.connection = connection
      // To listen there would be to leave a listener on a connection that others get.
      if (connection.isPooled) return giveUp(mine, 'pooled')
      const heard = Promise.withResolvers<void>()
      connection.onNotification((payload) => {
        const sent = parseNotifyPayload(payload)
        if (!isMine() || sent === undefined) return
        if (sent.from !== from) post(sent.notifications)
        else if (sent.notifications.length === 0) heard.resolve()
      })
      await connection.query(`LISTEN "${channel}"`, limitMs)
      await notify(toProbePayload(from))
      const isHeard = await answerWithin(limitMs, heard.promise, () => {}).then(
        () => true,
        () => false,
      )
      if (!isMine()) return
      if (!isHeard && ++mine.unheard < mostUnheard)
        throw new Error('What was sent to ourselves did not come.')
      if (!isHeard) return giveUp(mine, 'unheard')
      mine.unheard = 0
      mine.isDeaf = false
      mine.downSince = null
      mine.pauseMs = firstPauseMs
      connection.onEnd((error) => retry(mine, error))
      probe(mine, connection)
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

  const giveUp = (mine: Line, reason: DeafReason) => {
    void mine.connection?.close()
    mine.connection = undefined
    mine.isDeaf = true
    onDeaf(reason)
    mine.timer = setTimeout(() => void listen(mine), deafPauseMs)
    mine.timer.unref()
  }

  /** To listen again changes nothing, and is answered. What does not answer is dropped, which ends it. */
  const probe = (mine: Line, connection: Connection) => {
    mine.timer = setTimeout(() => {
      connection.query(`LISTEN "${channel}"`, limitMs).then(
        () => {
          if (line === mine && mine.connection === connection) probe(mine, connection)
        },
        (error: unknown) => {
          if (line === mine) onError(error)
          connection.drop()
        },
      )
    }, probeEveryMs)
  }

  return {
    start() {
      if (line !== null) return
      const mine: Line = {
        connection: undefined,
        timer: undefined,
        pauseMs: firstPauseMs,
        downSince: performance.now(),
        isDeaf: false,
        unheard: 0,
      }
      line = mine
      void listen(mine)
    },
    async stop() {
      const ended = line
      line = null
      if (ended === null) return
      clearTimeout(ended.timer)
      await ended.connection?.close()
    },
    get state() {
      if (line?.isDeaf === true) return 'deaf'
      return line?.downSince === null ? 'listening' : 'down'
    },
    downMs() {
      const since = line === null || line.isDeaf ? null : line.downSince
      return since === null ? 0 : performance.now() - since
    },
  }
}
