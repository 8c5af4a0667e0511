import { describe, expect, it, onTestFinished } from 'vitest'
import { parseMessageId } from '../../src/core/ids.ts'
import { type PostgresStoreOptions, postgres } from '../../src/store/postgres/index.ts'
import type { ChangeNotification, Store } from '../../src/store/store.ts'
import { planAll } from '../../src/testing/store-rules/append-events.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  ended,
  recorded,
  messageAdded,
  started,
  succeeded,
  text,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import type { PlannedCommit } from '../../src/store/plan-commit.ts'
import { openTcpLine } from '../support/tcp-line.ts'
import { blocked, openTestDatabase, type TestDatabase, waitFor } from './test-database.ts'

const quick: PostgresStoreOptions = { statementTimeoutMs: 500, connectTimeoutMs: 1_000 }

/** A store behind a line that can be stalled, and one beside it that cannot. */
async function openStores(options: PostgresStoreOptions = quick) {
  const database = await openTestDatabase()
  const line = await openTcpLine(database.url)
  const store = postgres(line.url, options)
  onTestFinished(() => store.close())
  const beside = database.open()
  await createThread(store)
  return { database, line, store, beside }
}

const message = (number: number) =>
  messageAdded(`Message ${number}`, parseMessageId(`message-${number}`))

async function plan(store: Store, events: Parameters<typeof append>[1], lease?: object) {
  const [planned] = await planAll(store, [{ threadId: thread, events, ...lease }])
  return planned as PlannedCommit
}

describe('a connection on which nothing comes through any more', () => {
  it('[LG3b] is replaced: a commit that did not reach the server is written on another, once', async () => {
    const { line, store, beside } = await openStores()
    await append(store, [message(1)])
    const commit = await plan(beside, [message(2)])
    line.stall('now')
    line.restore()
    expect(await store.commit([commit])).toMatchObject([{ kind: 'appended', firstSeq: 2, seq: 2 }])
    expect((await readPage(beside)).messages).toHaveLength(2)
  })

  it.each([
    ['a message', [message(2)]],
    ['the beginning of a turn', [message(2), started(), ...text('Hi')]],
    ['a turn that begins and ends', [message(2), started(), ...text('Hi'), ended()]],
  ])(
    '[LG3b LG1] whose answer is lost has stored %s: it is found, and not written again',
    async (_, events) => {
      const { line, store, beside } = await openStores()
      await append(store, [message(1)])
      const commit = await plan(beside, events)
      line.stall('answers')
      const last = 1 + events.length
      const { incarnation } = (await beside.readThread(thread)) ?? {}
      expect(await store.commit([commit])).toMatchObject([
        { kind: 'appended', firstSeq: 2, seq: last, incarnation },
      ])
      expect((await beside.readThread(thread))?.seq).toBe(last)
      expect(await readPage(store)).toEqual(await readPage(beside))
    },
  )

  it('[LG3b CR2] returns to a run that its end was stored, and the lease given back', async () => {
    const { line, store, beside } = await openStores()
    const lease = { kind: 'acquire', holder: 'one', ttlMs: 60_000, turnId: turn } as const
    const begin = await plan(beside, [message(1), started(), ...text('Hi'), recorded()], { lease })
    line.stall('answers')
    const [begun] = await store.commit([begin])
    expect(begun).toMatchObject({ kind: 'appended', seq: 6, fence: expect.any(Number) as number })
    const fence = begun?.kind === 'appended' ? begun.fence : undefined
    line.stall('answers')
    const release = { lease: { kind: 'release', fence } }
    const end = await plan(beside, [succeeded('found'), ended()], release)
    expect(await store.commit([end])).toMatchObject([{ kind: 'appended', seq: 8, fence }])
    expect((await readPage(beside)).messages[0]).toMatchObject({ progress: { status: 'ended' } })
    // Nobody has it now.
    const again = await plan(beside, [messageAdded('Next', parseMessageId('next'))], { lease })
    expect(await store.commit([again])).toMatchObject([{ kind: 'appended', seq: 9 }])
  })

  it('[LG3b] says that a commit is in doubt while nobody can be asked, and finds it when it is brought again', async () => {
    const { line, store, beside } = await openStores()
    await append(store, [message(1)])
    const commits = [await plan(beside, [message(2)])]
    line.stall('answers')
    const told = store.commit(commits).catch((error: unknown) => error)
    await expect.poll(async () => (await beside.readThread(thread))?.seq, { interval: 5 }).toBe(2)
    line.stall('all')
    expect(await told).toMatchObject({ code: 'store-unreachable', isInDoubt: true })
    // As a run does it, which waits for the store.
    expect(await store.commit(commits).catch((error: unknown) => error)).toMatchObject({
      isInDoubt: true,
    })
    line.restore()
    expect(await store.commit(commits)).toMatchObject([{ kind: 'appended', firstSeq: 2, seq: 2 }])
    expect((await readPage(beside)).messages).toHaveLength(2)
  })

  it('[LG3b OP6] does not find a commit in doubt in a thread that was made again with the same content', async () => {
    const { line, store, beside } = await openStores()
    await append(store, [message(1)])
    const { incarnation } = (await beside.readThread(thread)) ?? {}
    const commits = [await plan(beside, [message(2)], { incarnation })]
    line.stall('answers')
    const told = store.commit(commits).catch((error: unknown) => error)
    await expect.poll(async () => (await beside.readThread(thread))?.seq, { interval: 5 }).toBe(2)
    line.stall('all')
    expect(await told).toMatchObject({ isInDoubt: true })
    await beside.deleteThread(thread)
    await createThread(beside)
    for (const number of [1, 2]) await append(beside, [message(number)])
    line.restore()
    // As a run does it, which waits for the store.
    const again = () => store.commit(commits).catch((error: unknown) => error)
    await expect.poll(again, { timeout: 10_000 }).toBeInstanceOf(Array)
    expect(await again()).toEqual([{ kind: 'stale', seq: 2 }])
    expect((await beside.readThread(thread))?.seq).toBe(2)
  })

  it('[LG3a] costs a reader one limit: the next ones do not meet it again', async () => {
    // Far more than a busy machine takes for the reads: six connections that each cost a limit are told from one.
    const statementTimeoutMs = 2_000
    const { line, store } = await openStores({ ...quick, statementTimeoutMs, poolSize: 6 })
    await Promise.all(Array.from({ length: 20 }, () => store.readThread(thread)))
    line.stall('now')
    const began = performance.now()
    expect(await store.readThread(thread)).toMatchObject({ id: thread })
    for (let read = 0; read < 10; read++) await store.readThread(thread)
    expect(performance.now() - began).toBeLessThan(4 * statementTimeoutMs)
  })

  it('[LG3a] refuses readers at once while it is known that nobody answers', async () => {
    const { line, store } = await openStores()
    line.stall('all')
    const readers = Array.from({ length: 30 }, () =>
      store.readThread(thread).catch((error: unknown) => error),
    )
    const began = performance.now()
    for (const told of await Promise.all(readers)) {
      expect(told).toMatchObject({ code: 'store-unreachable' })
    }
    expect(performance.now() - began).toBeLessThan(10_000)
    line.restore()
    await expect.poll(() => store.readThread(thread).catch(() => null)).not.toBeNull()
  })
})

describe('a store that is being opened', () => {
  it('[LG3b LG3a] waits for the answer to its first read no longer than for that to any other', async () => {
    const database = await openTestDatabase()
    const beside = database.open()
    await createThread(beside)
    const line = await openTcpLine(database.url)
    const store = postgres(line.url, { ...quick, statementTimeoutMs: 3_000 })
    onTestFinished(() => store.close())
    // The look at what the tables are like is under way, and the answer to it vanishes.
    const locker = await database.connect()
    await locker.query('BEGIN; LOCK TABLE holdfast.migrations IN ACCESS EXCLUSIVE MODE')
    const told = store.readThread(thread).catch((error: unknown) => error)
    await waitFor(await database.connect(), blocked)
    line.stall('now')
    await locker.query('ROLLBACK')
    expect(await told).toMatchObject({ code: 'store-unreachable', isTemporary: true })
    line.restore()
    expect(await store.readThread(thread)).toMatchObject({ id: thread })
  })
})

describe('a server process that stands still', () => {
  it('[LG3b LG1] is left behind; what it does when it goes on changes nothing', async ({
    skip,
  }) => {
    const { database, store, beside } = await openStores()
    await append(store, [message(1)])
    const client = await database.connect()
    const writers = `SELECT pid FROM pg_stat_activity WHERE application_name = 'holdfast'
      AND datname = current_database() AND query LIKE 'WITH input%'`
    const pids = (await waitFor<{ pid: number }>(client, writers)).map(({ pid }) => pid)
    const signal = (name: 'SIGSTOP' | 'SIGCONT') => pids.map((pid) => process.kill(pid, name))
    try {
      signal('SIGSTOP')
    } catch {
      skip('The PostgreSQL of the tests runs elsewhere, or under an account that is not ours.')
    }
    onTestFinished(() => {
      try {
        signal('SIGCONT')
      } catch {
        // It has ended.
      }
    })
    expect(await append(store, [message(2)])).toMatchObject({ firstSeq: 2, seq: 2 })
    signal('SIGCONT')
    await waitFor(
      client,
      `SELECT FROM pg_stat_activity WHERE pid IN (${pids.join()})`,
      (rows) => rows.length === 0,
    )
    expect((await beside.readThread(thread))?.seq).toBe(2)
    expect((await readPage(beside)).messages).toHaveLength(2)
  })
})

describe('a commit that the server is slow to carry out', () => {
  /** Commits of messages wait in their transaction, where no time limit ends them, as for a standby that does not answer. */
  async function holdCommits(database: TestDatabase) {
    const client = await database.connect()
    await client.query(`CREATE TABLE held (); INSERT INTO held DEFAULT VALUES;
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        WHILE EXISTS (SELECT FROM public.held) LOOP PERFORM pg_sleep(0.005); END LOOP;
        RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON holdfast.messages
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`)
    return { letGo: () => client.query('DELETE FROM held') }
  }

  it('[LG3b LG1] is found when it is there at last, however often it was looked for and brought again', async () => {
    const { database, store, beside } = await openStores()
    await append(store, [message(1)])
    const commit = await plan(store, [message(2)])
    const { letGo } = await holdCommits(database)
    // Not to be seen, and its row is locked by whoever stores it.
    const locked = [{ kind: 'busy', isInDoubt: true }]
    expect(await store.commit([commit])).toEqual(locked)
    expect(await store.commit([commit])).toEqual(locked)
    await letGo()
    await expect.poll(async () => (await beside.readThread(thread))?.seq, { interval: 5 }).toBe(2)
    expect(await store.commit([commit])).toMatchObject([{ kind: 'appended', firstSeq: 2, seq: 2 }])
    expect((await readPage(beside)).messages).toHaveLength(2)
  })
})

describe('a listening connection that falls silent', () => {
  it('[RS2 RS7] is noticed and replaced, and whoever follows reads again', async () => {
    const { line, store, beside } = await openStores()
    // Who says what they follow is told of everything only when the listener is back, or was never up.
    const { notifications, until } = watchStore(store, () => [thread])
    const isEverything = (notification: ChangeNotification) => notification.threadId === null
    await until(isEverything)
    expect(store.problem?.()).toBeNull()
    line.stall('now')
    line.restore()
    await append(beside, [message(1)])
    const before = notifications.length
    await until((notification) => isEverything(notification) && notifications.length > before)
    await append(beside, [message(2)])
    await until((notification) => notification.threadId === thread && notification.seq === 2)
  })
})
