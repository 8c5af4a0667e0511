import type { Seq, ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { everything } from './notify-publisher.ts'
import type { ListenerState } from './notify-listener.ts'
import type { RunStatement, Statement } from './statement.ts'

/** Asks the database what has changed in the threads that are followed here: one statement for all of them. */
export interface ChangePoll {
  start(): void
  stop(): void
  /** For how long no answer has come. */
  failingMs(): number
  /**
   * Where these threads stand, by a look that takes the place of the next; null: it is not looking. Without it
   * whoever makes sure that nothing was missed would ask the same once more.
   */
  readSeqs(ids: readonly ThreadId[]): Promise<ReadonlyMap<ThreadId, Seq> | null>
}

export interface ChangePollOptions {
  readonly run: RunStatement
  /** Quoted. */
  readonly schema: string
  readonly pollMs: number
  /** Where changes are heard of by themselves, nothing is asked. */
  readonly listener: () => ListenerState
  readonly followed: () => Iterable<ThreadId>
  readonly post: (notifications: readonly ChangeNotification[]) => void
  /** For those who do not say what they follow: anything may have changed. */
  readonly postUnspecific: () => void
  readonly onError: (error: unknown) => void
}

/** While a listener is being made, those who do not say what they follow look for themselves so often. */
const unspecificMs = 2_000

interface KnownThread {
  /** Null: there was no such thread. */
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
  /** Which server process answered last: after a fail-over or a restart it is another. */
  let server: string | null = null
  /** When those who do not say what they follow were last told to look. */
  let notifiedAt = 0
  let failingSince: number | null = null
  /** Null while it is stopped; a loop that finds another ends. */
  let loop: object | null = null
  let timer: NodeJS.Timeout | undefined

  const look = async (): Promise<void> => {
    const state = listener()
    const now = performance.now()
    if (state === 'listening') return
    if (state === 'deaf' || (state === 'down' && now - notifiedAt >= unspecificMs)) {
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
      const found = rows[0]?.server ?? null
      const isOther = failingSince !== null || (server !== null && found !== server)
      failingSince = null
      server = found
      post(toNotifications(threads, rows, isOther))
    } catch (error) {
      // Once for each time that it goes wrong, not four times a second.
      if (failingSince === null) onError(error)
      failingSince ??= performance.now()
    }
  }

  let looking: Promise<void> | null = null
  const lookOnce = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = null
    })
    return looking
  }
  const schedule = (mine: object) => {
    clearTimeout(timer)
    timer = setTimeout(() => void goOn(mine), pollMs).unref()
  }
  const goOn = async (mine: object) => {
    await lookOnce()
    if (loop === mine) schedule(mine)
  }

  return {
    async readSeqs(ids) {
      if (loop === null || listener() === 'listening') return null
      clearTimeout(timer)
      await goOn(loop)
      if (failingSince !== null || ids.some((id) => !known.has(id))) return null
      return new Map(
        ids.flatMap((id) => {
          const seq = known.get(id)?.seq ?? null
          return seq === null ? [] : [[id, seq] as const]
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
  const found: ChangeNotification[] = []
  // What was shown may be of a history that is no more: everyone looks for themselves (OP6).
  let isUncertain = isOtherServer
  for (const { threadId, seq, incarnation, isStopping } of rows) {
    if (threadId === null) continue
    const before = threads.get(threadId) ?? unknown
    threads.set(threadId, { seq, incarnation, isStopping })
    const isOther = before.incarnation !== null && before.incarnation !== incarnation
    if (isOther) found.push({ threadId, seq: 0 })
    if (seq === null) continue
    if (!isOther && seq < (before.seq ?? 0)) isUncertain = true
    // One without an event yet has nothing to tell, and 0 would say that it is gone.
    if (seq === 0) continue
    const isStop = isStopping === true && before.isStopping !== true
    found.push({ threadId, seq, ...(isStop ? { stop: true } : {}) })
  }
  return isUncertain ? [everything, ...found] : found
}

/** Quoted schema. Nested loops by its shape, so that it needs no settings: each thread is one probe of an index. */
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
