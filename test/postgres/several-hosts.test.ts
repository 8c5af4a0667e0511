import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseMessageId } from '../../src/core/ids.ts'
import { parseHostList } from '../../src/store/postgres/connector.ts'
import { type PostgresStoreOptions, postgres } from '../../src/store/postgres/index.ts'
import { readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  createThread,
  messageAdded,
  thread,
} from '../../src/testing/store-rules/thread-script.ts'
import { watchStore } from '../../src/testing/store-rules/watch-store.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'
import { openTestDatabase } from './test-database.ts'

const message = (number: number) =>
  messageAdded(`Message ${number}`, parseMessageId(`message-${number}`))

function open(url: string, options: PostgresStoreOptions = {}) {
  const store = postgres(url, { connectTimeoutMs: 2_000, ...options })
  onTestFinished(() => store.close())
  return store
}

/** The servers of several addresses as one, in libpq's way. */
function together(urls: readonly string[], attrs: string): string {
  const [first] = urls.map((url) => new URL(url))
  const hosts = urls.map((url) => new URL(url).host).join(',')
  return `postgres://${first!.username}:${first!.password}@${hosts}${first!.pathname}?target_session_attrs=${attrs}`
}

async function query(url: string, text: string) {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

describe('an address', () => {
  it.each([
    ['postgres://ana@a/db', ['postgres://ana@a/db'], 'any'],
    [
      'postgres://ana:se%40me@a,b:5433/db?target_session_attrs=read-write&sslmode=disable',
      [
        'postgres://ana:se%40me@a/db?sslmode=disable',
        'postgres://ana:se%40me@b:5433/db?sslmode=disable',
      ],
      'read-write',
    ],
    [
      'postgresql://ana@/db?host=a,b,c&port=1,2,3&target_session_attrs=primary',
      [
        'postgresql://ana@/db?port=1&host=a',
        'postgresql://ana@/db?port=2&host=b',
        'postgresql://ana@/db?port=3&host=c',
      ],
      'primary',
    ],
    ['postgres://a:1,[::1]:2/db', ['postgres://a:1/db', 'postgres://[::1]:2/db'], 'any'],
    ['postgres://a/db?target_session_attrs=read-write', ['postgres://a/db'], 'read-write'],
  ])('[LG3c] %s names its servers in order', (url, urls, sessionAttrs) => {
    expect(parseHostList(url)).toEqual({ urls, sessionAttrs })
    for (const each of urls) {
      expect(new pg.Client({ connectionString: each }).database).toBe('db')
    }
  })

  it.each([
    'postgres://ana:Sesame@a,,b/db',
    'postgres://ana:Sesame@a,b/db?port=1,2,3',
    'postgres://ana:Sesame@a/db?target_session_attrs=sometimes',
    'mysql://ana:Sesame@a,b/db',
  ])('[LG3c] that is none is refused without being shown: %s', (url) => {
    expect(() => postgres(url)).toThrow(
      expect.objectContaining({
        code: 'bad-option',
        message: expect.not.stringContaining('Sesame') as string,
      }) as Error,
    )
  })
})

describe('several servers', () => {
  it('[LG3c] one that nobody is at, or that cannot be written to, is passed over', async () => {
    const [first, second] = [await openTestDatabase(), await openTestDatabase()]
    const name = new URL(first.url).pathname.slice(1)
    await query(first.url, `ALTER DATABASE ${name} SET default_transaction_read_only = on`)
    const nobody = first.url.replace(/:\d+\//, ':1/')
    const store = open(together([nobody, first.url], 'read-write'))
    await expect(createThread(store)).rejects.toMatchObject({ code: 'store-read-only' })
    const any = open(together([second.url.replace(/:\d+\//, ':1/'), second.url], 'any'))
    await createThread(any)
    expect(await any.readThread(thread)).toMatchObject({ seq: 0 })
    await query(
      first.url,
      `BEGIN READ WRITE; ALTER DATABASE ${name} RESET default_transaction_read_only; COMMIT`,
    )
    await createThread(store)
  })

  it('[LG3c LG3b] after a fail-over the same store goes on with the other, and nothing is lost or doubled', async ({
    skip,
  }) => {
    let pair: PostgresPair
    try {
      pair = await startPostgresPair()
    } catch (error) {
      return skip(`No primary and standby could be started here: ${String(error)}`)
    }
    onTestFinished(() => pair.stop())
    const [primary, standby] = pair.urls
    const store = open(together([primary, standby], 'read-write'))
    // The standby is asked first, and will not do.
    const other = open(together([standby, primary], 'read-write'))
    await createThread(store)
    const { until, notifications } = watchStore(other)
    await until((notification) => notification.threadId === null)
    // Nothing is told as stored that the standby does not have.
    await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
    await query(primary, 'SELECT pg_reload_conf()')
    for (let number = 1; number <= 20; number++)
      await append(number % 2 === 0 ? store : other, [message(number)])
    await until(({ seq }) => seq === 20)
    const before = notifications.length
    await pair.stopPrimary()
    expect(await append(store, [message(21)]).catch((error: unknown) => error)).toMatchObject({
      name: 'HoldfastError',
    })
    await query(standby, 'SELECT pg_promote()')
    await query(standby, `ALTER SYSTEM RESET synchronous_standby_names`)
    await query(standby, 'SELECT pg_reload_conf()')
    await expect
      .poll(() =>
        append(store, [message(21)]).then(
          ({ seq }) => seq,
          () => null,
        ),
      )
      .toBe(21)
    expect((await append(other, [message(22)])).seq).toBe(22)
    const { messages } = await readPage(store, { limit: 100 })
    expect(messages.map(({ id }) => id)).toEqual(
      Array.from({ length: 22 }, (_, index) => `message-${22 - index}`),
    )
    // Who follows elsewhere reads again, and hears of what comes.
    await until(({ threadId }) => threadId === null && notifications.length > before)
    await append(store, [message(23)])
    await until(({ seq }) => seq === 23)
  }, 120_000)
})
