import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { foldThread, type ThreadView } from '../../src/core/fold-thread.ts'
import { parseMessageId, parseThreadId } from '../../src/core/ids.ts'
import type { ChangeNotification, Store } from '../../src/store/store.ts'
import { commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { nothing, readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  messageAdded,
  started,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import { openTestDatabase, waitFor } from './test-database.ts'

const message = (number: number) =>
  messageAdded(`Message ${number}`, parseMessageId(`message-${number}`))
const isLineUp = (notification: ChangeNotification) => notification.threadId === null
const listeners = `SELECT pid FROM pg_stat_activity
  WHERE application_name = 'holdfast' AND query LIKE 'LISTEN%' AND datname = current_database()`

/** Reads on at every notification, as the event stream of a tab does. */
function follow(store: Store) {
  let view: ThreadView = nothing
  let reading: Promise<void> = Promise.resolve()
  const waiting: { readonly seq: number; readonly resolve: () => void }[] = []
  const readOn = async () => {
    const { changes } = await readChanges(store, view.seq)
    view = foldThread(view, changes)
    for (const { seq, resolve } of waiting) if (view.seq >= seq) resolve()
  }
  store.watch(() => {
    reading = reading.then(readOn)
  })
  return {
    view: () => view,
    until: (seq: number) =>
      new Promise<void>((resolve) => {
        waiting.push({ seq, resolve })
        if (view.seq >= seq) resolve()
      }),
  }
}

describe('notifications from another process', () => {
  it('[RS7] tell of a commit, a stop and a deletion', async () => {
    const database = await openTestDatabase()
    const [writer, reader] = [database.open(), database.open()]
    await createThread(writer)
    const { until } = watchStore(reader)
    await until(isLineUp)
    const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId: turn } as const
    await append(writer, [message(1), started()], { lease })
    await until(
      (notification) =>
        notification.threadId === thread &&
        notification.seq === 2 &&
        notification.stop === undefined,
    )
    await writer.requestStop(thread)
    await until((notification) => notification.threadId === thread && notification.stop === true)
    await writer.deleteThread(thread)
    await until((notification) => notification.threadId === thread && notification.seq === 0)
  })

  it('[RS7] tell once of what its own process committed', async () => {
    const database = await openTestDatabase()
    const [store, other] = [database.open(), database.open()]
    await createThread(store)
    const { notifications, until } = watchStore(store)
    const far = watchStore(other)
    await Promise.all([until(isLineUp), far.until(isLineUp)])
    for (const number of [1, 2, 3]) await append(store, [message(number)])
    await far.until((notification) => notification.seq === 3)
    // Notices come in order: when this one is here, those of our own have been.
    await append(other, [message(4)])
    await until((notification) => notification.seq === 4)
    expect(notifications.filter(({ threadId }) => threadId === thread)).toEqual(
      [1, 2, 3, 4].map((seq) => ({ threadId: thread, seq })),
    )
  })

  it('[RS7] tell of hundreds of threads in one commit, with ids of any length', async () => {
    const database = await openTestDatabase()
    const [writer, reader] = [database.open(), database.open()]
    const ids = Array.from({ length: 300 }, (_, index) =>
      parseThreadId(`${index}-${'長'.repeat(190)}`),
    )
    await Promise.all(ids.map((id) => createThread(writer, id)))
    const { notifications, until } = watchStore(reader)
    await until(isLineUp)
    const events = [message(1)]
    await commitTogether(
      writer,
      ids.map((threadId) => ({ threadId, events, expectedSeq: 0 })),
    )
    await Promise.all(ids.map((id) => until((notification) => notification.threadId === id)))
    expect(notifications.filter(({ threadId }) => threadId !== null)).toHaveLength(ids.length)
  })

  it('[RS7] pass over notices that are not ours', async () => {
    const database = await openTestDatabase()
    const [writer, reader] = [database.open(), database.open()]
    await createThread(writer)
    const { notifications, until } = watchStore(reader)
    await until(isLineUp)
    const client = await database.connect()
    for (const payload of ['', '{', '7', '["a"]', '["a", [7, null, ["b"], ["c", "d"]]]']) {
      await client.query('SELECT pg_notify($1, $2)', ['holdfast', payload])
    }
    await append(writer, [message(1)])
    await until((notification) => notification.threadId === thread)
    expect(notifications).toEqual([
      { threadId: null, seq: 0 },
      { threadId: thread, seq: 1 },
    ])
  })
})

describe('the connection that listens', () => {
  const kill = async (client: pg.Client) => {
    const rows = await waitFor<{ pid: number }>(client, listeners)
    for (const { pid } of rows) await client.query('SELECT pg_terminate_backend($1)', [pid])
  }

  it('is there only while somebody watches', async () => {
    const database = await openTestDatabase()
    const store = database.open()
    await createThread(store)
    const client = await database.connect()
    expect((await client.query(listeners)).rows).toEqual([])
    const watchers = [watchStore(store), watchStore(store)]
    await watchers[0]!.until(isLineUp)
    expect((await client.query(listeners)).rows).toHaveLength(1)
    watchers[0]!.stop()
    expect((await client.query(listeners)).rows).toHaveLength(1)
    watchers[1]!.stop()
    await waitFor(client, listeners, (rows) => rows.length === 0)
    await watchStore(store).until(isLineUp)
    await store.close()
    await waitFor(client, listeners, (rows) => rows.length === 0)
  })

  it('[RS2] is made again when it is killed, and nothing is missed', async () => {
    const database = await openTestDatabase()
    const [writer, reader] = [database.open(), database.open()]
    const client = await database.connect()
    await createThread(writer)
    const follower = follow(reader)
    let written = 0
    for (let kills = 0; kills < 3; kills++) {
      await append(writer, [message(++written)])
      await follower.until(written)
      const killed = kill(client)
      // Some of these are committed while nobody listens.
      for (let count = 0; count < 20; count++) await append(writer, [message(++written)])
      await killed
      await append(writer, [message(++written)])
      await follower.until(written)
    }
    expect(follower.view().messages.toReversed()).toEqual((await readPage(writer)).messages)
  })

  it('[RS2] makes everyone read again when it is back, whatever was committed meanwhile', async () => {
    const database = await openTestDatabase()
    const [writer, reader] = [database.open(), database.open()]
    const client = await database.connect()
    await createThread(writer)
    const first = watchStore(reader)
    await first.until(isLineUp)
    const second = watchStore(reader)
    await kill(client)
    await second.until(isLineUp)
    expect(first.notifications).toEqual([
      { threadId: null, seq: 0 },
      { threadId: null, seq: 0 },
    ])
    expect(second.notifications).toEqual([{ threadId: null, seq: 0 }])
  })
})
