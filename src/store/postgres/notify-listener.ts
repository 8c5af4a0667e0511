import type { ChangeNotification } from '../store.ts'
import { answerWithin, type Connection } from './connection.ts'
import { everything, parseNotifyPayload, toProbePayload } from './notify-publisher.ts'

export interface NotifyListener {
  start(): void
  /** Resolves when the connection, if there was one, is closed. */
  stop(): Promise<void>
  readonly state: ListenerState
  /** For how long the connection has been down. 0 where listening is not possible. */
  downMs(): number
}

/**
 * `listening`: notifications of other processes arrive. `down`: not yet, or not at the moment. `unavailable`:
 * notifications cannot arrive over this URL.
 */
export type ListenerState = 'listening' | 'down' | 'unavailable'

export interface NotifyListenerOptions {
  /** The name of this store: its own notifications were delivered to its listeners directly. */
  readonly from: string
  readonly channel: string
  readonly connect: () => Promise<Connection>
  /** Sends a payload to the channel in the same way as change notifications. */
  readonly notify: (payload: string) => Promise<unknown>
  /** Called with the reason, each time that notifications are found not to arrive. */
  readonly onUnavailable: (reason: UnavailableReason) => void
  /** How long the server may take to answer. */
  readonly limitMs: number
  readonly post: (notifications: readonly ChangeNotification[]) => void
  readonly onError: (error: unknown) => void
}

/**
 * `pooled`: a pooler shares its connections, so a LISTEN does not last beyond its transaction.
 * `not-delivered`: the probe did not arrive: another server, another database, or a pooler that hides that it
 * is one.
 */
export type UnavailableReason = 'pooled' | 'not-delivered'

const firstPauseMs = 50
const longestPauseMs = 5_000
/** How often an unavailable URL is tried again: what it leads to may have changed. */
const unavailablePauseMs = 60_000
const mostLostProbes = 2
/** The server sends nothing by itself on an idle connection, so it is probed. */
const probeEveryMs = 5_000

/**
 * One connection with LISTEN, open while anything watches, and opened again whenever it breaks or stops
 * responding. Whether notifications arrive is tested: the listener sends itself a probe in the same way as
 * other processes send theirs.
 */
export function createNotifyListener(options: NotifyListenerOptions): NotifyListener {
  const { from, channel, connect, notify, onUnavailable, limitMs, post, onError } = options
  /** Null while nothing watches. */
  let session: Session | null = null

  interface Session {
    connection: Connection | undefined
    timer: NodeJS.Timeout | undefined
    pauseMs: number
    /** By `performance.now()`; null while it listens. */
    downSince: number | null
    isUnavailable: boolean
    /** How many probes in a row did not arrive: a single one may be a transient network fault. */
    lostProbes: number
  }

  const listen = async (own: Session): Promise<void> => {
    const isCurrent = () => session === own
    let connection: Connection | undefined
    try {
      connection = await connect()
      if (!isCurrent()) return void connection.close()
      own.connection = connection
      // A LISTEN there would stay behind on a connection that other clients get.
      if (connection.isPooled) return giveUp(own, 'pooled')
      const delivered = Promise.withResolvers<void>()
      connection.onNotification((payload) => {
        const sent = parseNotifyPayload(payload)
        if (!isCurrent() || sent === undefined) return
        if (sent.from !== from) post(sent.notifications)
        else if (sent.notifications.length === 0) delivered.resolve()
      })
      await connection.query(`LISTEN "${channel}"`, limitMs)
      await notify(toProbePayload(from))
      const isDelivered = await answerWithin(limitMs, delivered.promise, () => {}).then(
        () => true,
        () => false,
      )
      if (!isCurrent()) return
      if (!isDelivered && ++own.lostProbes < mostLostProbes)
        throw new Error('A notification to itself did not arrive.')
      if (!isDelivered) return giveUp(own, 'not-delivered')
      own.lostProbes = 0
      own.isUnavailable = false
      own.downSince = null
      own.pauseMs = firstPauseMs
      connection.onEnd((error) => retry(own, error))
      probe(own, connection)
      // Notifications were missed while the connection was down, so every follower has to read again.
      post([everything])
    } catch (error) {
      connection?.drop()
      retry(own, error)
    }
  }

  const retry = (own: Session, error: unknown) => {
    if (session !== own) return
    if (error !== undefined) onError(error)
    clearTimeout(own.timer)
    own.connection = undefined
    own.downSince ??= performance.now()
    own.timer = setTimeout(() => void listen(own), own.pauseMs)
    own.pauseMs = Math.min(own.pauseMs * 2, longestPauseMs)
  }

  const giveUp = (own: Session, reason: UnavailableReason) => {
    void own.connection?.close()
    own.connection = undefined
    own.isUnavailable = true
    onUnavailable(reason)
    own.timer = setTimeout(() => void listen(own), unavailablePauseMs)
    own.timer.unref()
  }

  /**
   * A repeated LISTEN changes nothing and is answered. A connection that does not answer is dropped, which
   * makes the listener reconnect.
   */
  const probe = (own: Session, connection: Connection) => {
    own.timer = setTimeout(() => {
      connection.query(`LISTEN "${channel}"`, limitMs).then(
        () => {
          if (session === own && own.connection === connection) probe(own, connection)
        },
        (error: unknown) => {
          if (session === own) onError(error)
          connection.drop()
        },
      )
    }, probeEveryMs)
  }

  return {
    start() {
      if (session !== null) return
      const own: Session = {
        connection: undefined,
        timer: undefined,
        pauseMs: firstPauseMs,
        downSince: performance.now(),
        isUnavailable: false,
        lostProbes: 0,
      }
      session = own
      void listen(own)
    },
    async stop() {
      const ended = session
      session = null
      if (ended === null) return
      clearTimeout(ended.timer)
      await ended.connection?.close()
    },
    get state() {
      if (session?.isUnavailable === true) return 'unavailable'
      return session?.downSince === null ? 'listening' : 'down'
    },
    downMs() {
      const since = session === null || session.isUnavailable ? null : session.downSince
      return since === null ? 0 : performance.now() - since
    },
  }
}
