import type { Seq, ThreadId } from '../../core/ids.ts'
import type { ChangeNotification, StoredSeq } from '../store.ts'
import { everything, type ListenerState } from './notify.ts'
import type { RunStatement, Statement } from './statement.ts'

/** Polls the database for changes of the followed threads, with one statement for all of them. */
export interface ChangePoll {
  start(): void
  stop(): void
  /** For how long every poll has failed. */
  failingMs(): number
  /**
   * See `Store.readSeqs`, from a poll that replaces the next scheduled one; null: it is not polling.
   * Without this, the check for lost notifications would run the same query a second time.
   */
  readSeqs(ids: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, StoredSeq> | null>
}

export interface ChangePollOptions {
  readonly run: RunStatement
  /** Quoted. */
  readonly schema: string
  readonly pollMs: number
  /** While the listener receives notifications, nothing is polled. */
  readonly listener: () => ListenerState
  readonly followed: () => Iterable<ThreadId>
  readonly post: (notifications: readonly ChangeNotification[]) => void
  /** For listeners without `followed`: notifies them that anything may have changed. */
  readonly postUnspecific: () => void
  readonly onError: (error: unknown) => void
}

/** How often listeners without `followed` are notified while the connection of the listener is down. */
const unspecificMs = 2_000

interface KnownThread {
  /** Null: the thread did not exist. */
  readonly seq: Seq | null
  readonly incarnation: string | null
  readonly isStopping: boolean | null
}

const unknown: KnownThread = { seq: null, incarnation: null, isStopping: null }

interface ChangedRow extends KnownThread {
  /** Null: nothing has changed. */
  readonly threadId: ThreadId | null
  readonly server: string
}

export function createChangePoll(options: ChangePollOptions): ChangePoll {
  const { run, schema, pollMs, listener, followed, post, postUnspecific, onError } = options
  const statement = pollStatement(schema)
  let known = new Map<ThreadId, KnownThread>()
  /** The server process of the last poll: a different one after a fail-over or a restart. */
  let server: string | null = null
  /** When the listeners without `followed` were last notified. */
  let notifiedAt = 0
  let failingSince: number | null = null
  /** Identifies the running loop, null while stopped; a loop that is no longer this one ends. */
  let loop: object | null = null
  let timer: NodeJS.Timeout | undefined

  const poll = async (): Promise<void> => {
    const state = listener()
    const now = performance.now()
    if (state === 'listening') return
    if (state === 'unavailable' || (state === 'down' && now - notifiedAt >= unspecificMs)) {
      notifiedAt = now
      postUnspecific()
    }
    const threads = new Map([...followed()].map((id) => [id, known.get(id) ?? unknown]))
    known = threads
    if (threads.size === 0) return
    const all = [...threads.values()]
    try {
      const rows = await run<ChangedRow>(statement, [
        [...threads.keys()],
        all.map(({ seq }) => seq),
        all.map(({ incarnation }) => incarnation),
        all.map(({ isStopping }) => isStopping),
      ])
      const current = rows[0]?.server ?? null
      const isOther = failingSince !== null || (server !== null && current !== server)
      failingSince = null
      server = current
      post(toNotifications(threads, rows, isOther))
    } catch (error) {
      // Reported once per outage, not at every poll.
      if (failingSince === null) onError(error)
      failingSince ??= performance.now()
    }
  }

  let polling: Promise<void> | null = null
  const pollOnce = (): Promise<void> => {
    polling ??= poll().finally(() => {
      polling = null
    })
    return polling
  }
  const schedule = (mine: object) => {
    clearTimeout(timer)
    timer = setTimeout(() => void pollAndSchedule(mine), pollMs).unref()
  }
  const pollAndSchedule = async (mine: object) => {
    await pollOnce()
    if (loop === mine) schedule(mine)
  }

  return {
    async readSeqs(ids) {
      if (loop === null || listener() === 'listening') return null
      clearTimeout(timer)
      // A poll that is under way may have read before a thread was created, which would then count as deleted.
      await polling
      if (loop === null) return null
      await pollAndSchedule(loop)
      if (failingSince !== null || ids.some((id) => !known.has(id))) return null
      return new Map(
        ids.flatMap((id) => {
          const { seq, incarnation } = known.get(id) ?? unknown
          return seq === null ? [] : [[id, { seq, incarnation: incarnation ?? '' }] as const]
        }),
      )
    },
    start() {
      if (loop !== null) return
      const mine = {}
      loop = mine
      notifiedAt = performance.now()
      schedule(mine)
    },
    stop() {
      loop = null
      clearTimeout(timer)
      known.clear()
      failingSince = null
    },
    failingMs: () => (failingSince === null ? 0 : performance.now() - failingSince),
  }
}

function toNotifications(
  threads: Map<ThreadId, KnownThread>,
  rows: readonly ChangedRow[],
  isOtherServer: boolean,
): readonly ChangeNotification[] {
  const notifications: ChangeNotification[] = []
  // After a fail-over the threads may have another history, so every follower has to read again (OP6).
  let isUncertain = isOtherServer
  for (const { threadId, seq, incarnation, isStopping } of rows) {
    if (threadId === null) continue
    const before = threads.get(threadId) ?? unknown
    threads.set(threadId, { seq, incarnation, isStopping })
    const isOther = before.incarnation !== null && before.incarnation !== incarnation
    if (isOther) {
      notifications.push({ threadId, seq: 0, incarnation: before.incarnation ?? '' })
    }
    if (seq === null) continue
    if (!isOther && seq < (before.seq ?? 0)) isUncertain = true
    // A thread without an event has no change to notify, and a notification with seq 0 would mean that it was
    // deleted.
    if (seq === 0) continue
    const isStop = isStopping === true && before.isStopping !== true
    notifications.push({ threadId, seq, ...(isStop ? { stop: true } : {}) })
  }
  return isUncertain ? [everything, ...notifications] : notifications
}

/**
 * `schema` is quoted. The shape of the statement leads to nested loops without any settings: each thread is
 * one probe of an index.
 */
export const pollStatement = (schema: string): Statement => ({
  name: 'holdfast-poll',
  text: `SELECT pg_postmaster_start_time()::text AS server, c.*
    FROM (VALUES (1)) AS one LEFT JOIN LATERAL (
      SELECT f.id AS "threadId", t.seq, t.incarnation, t.is_stopping AS "isStopping"
      FROM unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[])
        AS f(id, seq, incarnation, is_stopping)
      LEFT JOIN LATERAL (
        SELECT seq, incarnation,
          lease_holder IS NOT NULL AND coalesce(stop_fence = fence, false) AS is_stopping
        FROM ${schema}.threads WHERE id = f.id OFFSET 0) AS t ON true
      WHERE (t.seq, t.incarnation, t.is_stopping)
        IS DISTINCT FROM (f.seq, f.incarnation, f.is_stopping)) AS c ON true`.replaceAll(
    /\s+/g,
    ' ',
  ),
})
