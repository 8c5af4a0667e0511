import { randomUUID } from 'node:crypto'
import { badOption } from '../../core/check-options.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import type { ThreadId } from '../../core/ids.ts'
import { createLocalNotifier } from '../local-notifier.ts'
import type { ChangeNotification, Store } from '../store.ts'
import { type ChangePoll, createChangePoll } from './change-poll.ts'
import { createConnector } from './connector.ts'
import type { Database } from './database.ts'
import {
  createNotifyListener,
  createNotifyPublisher,
  everything,
  type UnavailableReason,
} from './notify.ts'

/** Change notifications: published to other processes, and received from them by LISTEN or by polling. */
export interface ChangeFeed extends Required<Pick<Store, 'watch' | 'problem'>> {
  /** Listeners of this process are notified at once, other processes through the server. */
  readonly publish: (changed: readonly ChangeNotification[]) => void
  /** See `ChangePoll.readSeqs`. */
  readonly readSeqs: ChangePoll['readSeqs']
  close(): Promise<void>
}

export interface ChangeFeedOptions {
  readonly database: Database
  /** Not quoted; the channel has the same name. */
  readonly schema: string
  readonly pollMs: number
  readonly listenUrl: string | undefined
  readonly connectTimeoutMs: number
  readonly limitMs: number
  readonly onError: (error: unknown) => void
}

export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { database, schema, pollMs, listenUrl, connectTimeoutMs, limitMs, onError } = options
  const from = randomUUID()
  const listeners = createLocalNotifier()
  /** The listeners that were registered without `followed`. */
  const unspecific = createLocalNotifier()
  const followed = new Set<() => Iterable<ThreadId>>()
  let isClosed = false

  const notify = (payloads: readonly string[]) => database.run(notifyStatement, [schema, payloads])
  const publisher = createNotifyPublisher({ from, notify, onError })
  const connect =
    listenUrl === undefined ? database.connect : connectToListen(listenUrl, connectTimeoutMs)
  const listener =
    connect === null
      ? null
      : createNotifyListener({
          from,
          channel: schema,
          connect,
          notify: (payload) => notify([payload]),
          onUnavailable: (reason) => {
            // Without a `listenUrl` polling is the documented default, so it is not reported.
            if (listenUrl !== undefined) onError(unavailableFault(reason, pollMs))
          },
          limitMs,
          post: (notifications) => listeners.post(notifications),
          onError,
        })
  const poll = createChangePoll({
    run: database.run,
    schema: `"${schema}"`,
    pollMs,
    listener: () => listener?.state ?? 'unavailable',
    followed: () => new Set([...followed].flatMap((each) => [...each()])),
    post: (notifications) => listeners.post(notifications),
    postUnspecific: () => unspecific.post([everything]),
    onError,
  })

  return {
    publish: (changed) => {
      listeners.post(changed)
      publisher.send(changed)
    },
    readSeqs: (ids) => poll.readSeqs(ids),
    problem: () =>
      Math.max(listener?.downMs() ?? 0, poll.failingMs()) >= listenerDownMs
        ? 'listener-down'
        : null,
    watch(own, ownFollowed) {
      const unwatch = [listeners.watch(own)]
      if (ownFollowed === undefined) unwatch.push(unspecific.watch(own))
      else followed.add(ownFollowed)
      if (!isClosed) {
        listener?.start()
        poll.start()
      }
      return () => {
        for (const each of unwatch) each()
        if (ownFollowed !== undefined) followed.delete(ownFollowed)
        if (listeners.size > 0) return
        poll.stop()
        void listener?.stop()
      }
    },
    async close() {
      isClosed = true
      poll.stop()
      await listener?.stop()
      await publisher.settle()
    },
  }
}

/** Connects like the store itself, but its faults name the option `listenUrl`. */
function connectToListen(listenUrl: string, connectTimeoutMs: number) {
  const toOwn = (error: unknown): unknown =>
    error instanceof HoldfastError
      ? new HoldfastError(error.code, `The address "listenUrl": ${error.message}`, {
          cause: error,
          isTemporary: error.isTemporary,
        })
      : error
  try {
    const { connect } = createConnector(listenUrl, connectTimeoutMs)
    return () =>
      connect().catch((error: unknown) => {
        throw toOwn(error)
      })
  } catch (error) {
    throw toOwn(error)
  }
}

/** A server that has received no changes of other processes for this long is not ready. */
const listenerDownMs = 10_000

const unavailableFault = (reason: UnavailableReason, pollMs: number) =>
  badOption(
    `postgres: nothing can be heard at the "listenUrl": ${
      reason === 'pooled'
        ? 'it leads to a pooler in transaction mode'
        : 'notifications of the store’s database do not arrive there'
    }. Changes of other processes are asked for every ${pollMs} ms instead.`,
  )

// A NOTIFY is a commit of its own. A notification need not survive a crash, so it does not wait for the disk.
const notifyStatement = {
  name: 'holdfast-notify',
  text: `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, payload)
    FROM unnest($2::text[]) AS payload`,
}
