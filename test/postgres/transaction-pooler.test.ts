import { createHoldfast, parseMessageId, parseThreadId, type ThreadId } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgres, type PostgresStoreOptions } from '../../src/store/postgres/index.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  messageAdded,
  thread,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import {
  startTransactionPooler,
  type TransactionPoolerOptions,
} from '../support/transaction-pooler.ts'
import { openTestDatabase } from './test-database.ts'

const message = (number: number) =>
  messageAdded(`Message ${number}`, parseMessageId(`message-${number}`))
/** It begins to speak, and then says nothing for longer than anybody waits. */
const model = scriptedModel(() => [{ text: 'Well, ' }, { waitMs: 3_600_000 }])
const isSetting = (left: string) => left.startsWith('setting')
const listeners = `SELECT FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()`

async function openPooler(poolerOptions?: TransactionPoolerOptions) {
  const database = await openTestDatabase()
  const pooler = await startTransactionPooler(database.url, poolerOptions)
  onTestFinished(() => pooler.close())
  return {
    database,
    pooler,
    open: (options: PostgresStoreOptions = {}) => {
      const store = postgres({ url: pooler.url }, options)
      onTestFinished(() => store.close())
      return store
    },
  }
}

describe.each([
  ['a transaction pooler', false],
  ['one that hides that it is one', true],
])('through %s', (_, isDisguised) => {
  it('[OP1] two stores write, read and follow, and nothing is left on the connections of others', async () => {
    const { pooler, open } = await openPooler({ isDisguised })
    const [writer, reader] = [open(), open()]
    await createThread(writer)
    const { until } = watchStore(reader)
    for (let number = 1; number <= 30; number++) {
      await append(number % 2 === 0 ? writer : reader, [message(number)])
      await Promise.all([writer, reader, writer].map((store) => readPage(store)))
    }
    await until(({ threadId }) => threadId === null)
    expect((await readPage(reader, { limit: 50 })).messages).toHaveLength(30)
    expect(await reader.deleteThread(thread)).toEqual({ messages: 30 })
    await Promise.all([writer.close(), reader.close()])
    expect(pooler.transactions).toBeGreaterThan(100)
    const left = await pooler.leftBehind()
    expect(isDisguised ? left.filter(isSetting) : left).toEqual([])
  })

  it('[OP1 RS7] two servers follow and stop turns of each other', async () => {
    const { open } = await openPooler({ isDisguised })
    const [one, two] = [1, 2].map(() => {
      const store = open()
      const holdfast = createHoldfast({
        store,
        model,
      })
      onTestFinished(() => holdfast.close())
      return holdfast
    })
    await createThread(one!.store)
    const sent = await one!.send({
      threadId: thread,
      message: { id: parseMessageId('one'), parts: [{ type: 'text', text: 'How are you?' }] },
    })
    expect(sent.kind).toBe('started')
    const seen: string[] = []
    for await (const { changes } of two!.subscribe(thread, 0)) {
      for (const change of changes) {
        seen.push(change.kind === 'event' ? change.event.type : change.turn.progress.status)
      }
      if (seen.includes('turn-ended') || seen.includes('ended')) break
      if (seen.includes('text-appended')) await two!.stop(thread)
    }
    expect(seen).toContain('text-appended')
    await one!.settled()
  })
})

it('[OP1] a thousand followed threads are one statement, a quarter of a second apart', async () => {
  const { database, pooler, open } = await openPooler()
  const [far, near] = [database.open(), open()]
  await createThread(far)
  const client = await database.connect()
  await client.query(`INSERT INTO holdfast.threads (id, owner_id, title, created_at, updated_at)
    SELECT 'thread-' || n, 'ana', '', 1, 1 FROM generate_series(0, 999) n`)
  const ids = Array.from({ length: 1_000 }, (_, index) => parseThreadId(`thread-${index}`))
  const heard = new Map<string, () => void>()
  near.watch(
    ({ threadId, seq }) => heard.get(`${threadId} ${seq}`)?.(),
    () => ids,
  )
  const change = async (id: ThreadId, seq: number) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    heard.set(`${id} ${seq}`, resolve)
    await append(far, [message(seq)], { threadId: id })
    await promise
  }
  await change(ids[7]!, 1)
  const [began, before] = [performance.now(), pooler.transactions]
  for (const index of [0, 150, 300, 600, 999]) await change(ids[index]!, 1)
  const seconds = (performance.now() - began) / 1000
  // Only one of the two goes this way, and it does nothing but ask. A slow machine asks less often.
  expect(pooler.transactions - before).toBeLessThanOrEqual(seconds * 4 + 5)
})

describe('a listenUrl', () => {
  it('[OP1] that leads straight to the server is listened at, while the rest goes through the pooler', async () => {
    const { database, pooler, open } = await openPooler()
    const [writer, reader] = [open(), open({ listenUrl: database.url })]
    await createThread(writer)
    const { until } = watchStore(reader)
    await until(({ threadId }) => threadId === null)
    const client = await database.connect()
    expect((await client.query(listeners)).rows).toHaveLength(1)
    await append(writer, [message(1)])
    await until(({ threadId, seq }) => threadId === thread && seq === 1)
    await reader.close()
    expect(await pooler.leftBehind()).toEqual([])
  })

  it('[OP1] through which no notification comes is reported, and changes are polled for', async () => {
    const { database, pooler, open } = await openPooler()
    const elsewhere = await openTestDatabase()
    const nobody = database.url.replace(/:\d+\//, ':1/')
    for (const [listenUrl, fault] of [
      [pooler.url, /"listenUrl": it leads to a pooler/],
      [elsewhere.url, /"listenUrl": notifications .* do not arrive there/],
      [nobody, /"listenUrl": PostgreSQL cannot be reached/],
      [database.url.replace(/:[^:@]*@/, ':Wrong@'), /"listenUrl": PostgreSQL rejected/],
    ] as const) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      const writer = open()
      const onError = (error: unknown) => {
        if (fault.test(String(error))) resolve(error)
      }
      const reader = open({ listenUrl, statementTimeoutMs: 1_000, onError })
      const id = parseThreadId(`thread ${String(fault)}`)
      await createThread(writer, id)
      const heard = new Promise<void>((done) => {
        reader.watch(
          ({ threadId, seq }) => {
            if (threadId === id && seq === 1) done()
          },
          () => [id],
        )
      })
      expect(await promise).toMatchObject({ message: expect.stringMatching(fault) as string })
      await append(writer, [message(1)], { threadId: id })
      await heard
    }
  })

  it.each(['', 'localhost', 'mysql://ana:Sesame@a/b', 'postgres://ana:Sesame@a,,b/db'])(
    '[OP1 CF1] that is no address is refused without being shown: %s',
    (listenUrl) => {
      expect(() => postgres('postgres://localhost/chat', { listenUrl })).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(/^(?!.*Sesame).*"listenUrl"/) as string,
        }) as Error,
      )
    },
  )
})

it('[OP1 LG1] an account whose transactions begin otherwise is given the isolation that is needed', async () => {
  const { database, open } = await openPooler()
  const client = await database.connect()
  const name = new URL(database.url).pathname.slice(1)
  await client.query(`ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`)
  const stores = [database.open(), database.open(), open(), open()]
  await createThread(stores[0]!)
  const results = await Promise.all(
    stores.map((store, index) => append(store, [message(index)]).catch(() => null)),
  )
  expect(results.filter((result) => result !== null)).toHaveLength(stores.length)
})
