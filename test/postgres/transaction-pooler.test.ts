import { describe, expect, it, onTestFinished } from 'vitest'
import { parseMessageId } from '../../src/core/ids.ts'
import { postgres } from '../../src/store/postgres/index.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import { append, createThread, say, thread } from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import {
  startTransactionPooler,
  type TransactionPooler,
  type TransactionPoolerOptions,
} from '../support/transaction-pooler.ts'
import { openTestDatabase } from './test-database.ts'

const message = (number: number) => say(`Message ${number}`, parseMessageId(`message-${number}`))

async function openPooler(options?: TransactionPoolerOptions) {
  const database = await openTestDatabase()
  const pooler = await startTransactionPooler(database.url, options)
  onTestFinished(() => pooler.close())
  return { database, pooler }
}

function open(pooler: TransactionPooler, options = {}) {
  const store = postgres(pooler.url, options)
  onTestFinished(() => store.close())
  return store
}

describe.each([
  ['a transaction pooler', false],
  ['one that hides that it is one', true],
])('through %s', (_, isDisguised) => {
  it('[OP1] two stores write, read and follow, and nothing is left on the connections of others', async () => {
    const { pooler } = await openPooler({ isDisguised })
    const [writer, reader] = [open(pooler), open(pooler)]
    await createThread(writer)
    const { until } = watchStore(reader)
    for (let number = 1; number <= 30; number++) {
      await append(number % 2 === 0 ? writer : reader, [message(number)])
      await Promise.all([writer, reader, writer].map((store) => readPage(store)))
    }
    await until(({ threadId, seq }) => threadId === null || seq === 30)
    expect((await readPage(reader, { limit: 50 })).messages).toHaveLength(30)
    expect(await reader.deleteThread(thread)).toBe(true)
    await Promise.all([writer.close(), reader.close()])
    expect(pooler.transactions).toBeGreaterThan(100)
    const left = await pooler.leftBehind()
    expect(isDisguised ? left.filter(isSetting) : left).toEqual([])
  })
})

const isSetting = (left: string) => left.startsWith('setting')
