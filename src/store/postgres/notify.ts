import type { ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { answerWithin, type PostgresConnection } from './connection.ts'

export interface NotifyPublisher {
  send(notifications: readonly ChangeNotification[]): void
  /** Resolves once every notification so far was sent, or given up. */
  settle(): Promise<void>
}

export interface NotifyPublisherOptions {
  readonly from: string
  readonly notify: (payloads: readonly string[]) => Promise<unknown>
  readonly onError: (error: unknown) => void
}

const attempts = 3
/** Each NOTIFY costs the server a commit, and a run makes hundreds of changes in a second. */
const spacingMs = 10

/**
 * Publishes changes to other processes: after their commit, never in it, because NOTIFY in a transaction
 * makes all commits of a database queue for one lock. The first is sent at once; those that follow within the
 * spacing are sent together, and of one thread only the newest, besides its deletions: a thread that is created again
 * under its id must not hide that the earlier one was deleted.
 */
export function createNotifyPublisher({
  from,
  notify,
  onError,
}: NotifyPublisherOptions): NotifyPublisher {
  const deletions: ChangeNotification[] = []
  const waiting = new Map<ThreadId | null, ChangeNotification>()
  let sending: Promise<void> | undefined

  const sendAll = async () => {
    // Includes whatever else is committed in this turn of the event loop.
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    while (deletions.length + waiting.size > 0) {
      const notifications = [...deletions.splice(0), ...waiting.values()]
      const payloads = [...toNotifyPayloads(from, notifications)]
      waiting.clear()
      await notifyWithRetry(payloads)
      await new Promise((resolve) => {
        setTimeout(resolve, spacingMs)
      })
    }
    sending = undefined
  }

  // If a notification is lost with its connection, followers in other processes wait for the next one, so it
  // is sent again.
  const notifyWithRetry = async (payloads: readonly string[]) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await notify(payloads)
        return
      } catch (error) {
        if (attempt < attempts) continue
        // The commits are stored; followers see them with their next read.
        onError(error)
        return
      }
    }
  }

  return {
    send(notifications) {
      for (const notification of notifications) {
        if (notification.incarnation !== undefined) {
          deletions.push(notification)
          // What was committed to the deleted thread.
          waiting.delete(notification.threadId)
          continue
        }
        const stop = notification.stop ?? waiting.get(notification.threadId)?.stop
        waiting.set(
          notification.threadId,
          stop === undefined ? notification : { ...notification, stop },
        )
      }
      if (deletions.length + waiting.size > 0) sending ??= sendAll()
    },
    settle: async () => sending,
  }
}

/** Sent when it is unknown what has changed. */
export const everything: ChangeNotification = { threadId: null, seq: 0 }

/** PostgreSQL accepts payloads below 8000 bytes; an id has at most 200 characters, so 800 bytes. */
const mostBytes = 7000

/** Encodes the notifications of one store as payloads for NOTIFY. By `from` that store recognises its own. */
export function* toNotifyPayloads(
  from: string,
  notifications: readonly ChangeNotification[],
): Generator<string> {
  let part: Wire[] = []
  let bytes = 0
  for (const notification of notifications) {
    const wire = toWire(notification)
    const size = Buffer.byteLength(JSON.stringify(wire))
    if (bytes + size > mostBytes) {
      yield JSON.stringify([from, part])
      part = []
      bytes = 0
    }
    part.push(wire)
    bytes += size + 1
  }
  if (part.length > 0) yield JSON.stringify([from, part])
}

/** The payload that a listener sends itself to test the connection: its own name and no change. */
const toProbePayload = (from: string): string => JSON.stringify([from, []])

/** Undefined if it is not a payload of Holdfast: any client may write to a channel. */
export function parseNotifyPayload(
  payload: string,
): { readonly from: string; readonly notifications: readonly ChangeNotification[] } | undefined {
  let value: unknown
  try {
    value = JSON.parse(payload)
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || typeof value[0] !== 'string' || !Array.isArray(value[1])) {
    return undefined
  }
  const notifications = (value[1] as readonly unknown[]).filter(isWire)
  return {
    from: value[0],
    notifications: notifications.map(([threadId, seq, what, incarnation]) => ({
      threadId,
      seq,
      ...(what === 'stop' ? { stop: true } : {}),
      ...(what === 'deleted' && typeof incarnation === 'string' ? { incarnation } : {}),
    })),
  }
}

/** A version that does not know a fourth element ignores it. */
type Wire = readonly [
  threadId: ThreadId | null,
  seq: number,
  what?: 'stop' | 'deleted',
  incarnation?: string,
]

function toWire({ threadId, seq, stop, incarnation }: ChangeNotification): Wire {
  if (incarnation !== undefined) return [threadId, seq, 'deleted', incarnation]
  return stop === true ? [threadId, seq, 'stop'] : [threadId, seq]
}

const isWire = (value: unknown): value is Wire =>
  Array.isArray(value) &&
  (typeof value[0] === 'string' || value[0] === null) &&
  typeof value[1] === 'number'

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
  readonly connect: () => Promise<PostgresConnection>
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
    connection: PostgresConnection | undefined
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
    let connection: PostgresConnection | undefined
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
  const probe = (own: Session, connection: PostgresConnection) => {
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
