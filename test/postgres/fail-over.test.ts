import { tool } from 'ai'
import { createHoldfast } from 'holdfast'
import { createThreadClient, type ThreadClient } from 'holdfast/client'
import { createHandler } from 'holdfast/server'
import { scriptedModel } from 'holdfast/testing'
import pg from 'pg'
import { expect, it, onTestFinished, type TestContext } from 'vitest'
import { z } from 'zod'
import { postgres } from '../../src/store/postgres/index.ts'
import { pollUntil } from '../support/poll-until.ts'
import { type PostgresPair, startPostgresPair } from '../support/postgres-pair.ts'

const thread = 'a-thread-that-is-failed-over'

async function openPair({ skip }: TestContext): Promise<PostgresPair> {
  const pair = await startPostgresPair().catch((error: unknown) =>
    skip(`No primary and standby could be started here: ${String(error)}`),
  )
  onTestFinished(() => pair.stop())
  return pair
}

async function query(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}

/** A server of ours on both, by an address that names them as libpq does. */
function openServer({ urls }: PostgresPair, hold: () => Promise<string>) {
  const [one, two] = urls.map((url) => new URL(url))
  const store = postgres(
    `postgres://${one!.username}:${one!.password}@${one!.host},${two!.host}/postgres?target_session_attrs=read-write`,
  )
  const holdfast = createHoldfast({
    store,
    model: scriptedModel(({ prompt }) =>
      prompt.at(-1)?.role === 'tool' ? [{ text: 'That is all.' }] : [{ call: 'hold', input: {} }],
    ),
    tools: { hold: tool({ inputSchema: z.object({}), execute: hold }) },
    // However long the servers take to change places: who runs the turn is not what is tested.
    leaseMs: 120_000,
  })
  onTestFinished(async () => {
    await holdfast.close()
    await store.close()
  })
  const handle = createHandler(holdfast, { localOnly: true })
  const fetchIt = (path: unknown, init?: RequestInit) =>
    handle(new Request(`http://127.0.0.1${path as string}`, init))
  return {
    fetch: fetchIt,
    client: () => createThreadClient({ threadId: thread, fetch: fetchIt, pageSize: 200 }),
    sendMessage: (text: string) =>
      fetchIt('/api/chat', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          id: thread,
          messages: [{ id: `m-${text}`, role: 'user', parts: [{ type: 'text', text }] }],
          trigger: 'submit-message',
        }),
      }),
    async page() {
      const response = await fetchIt(`/api/threads/${thread}/messages`)
      return (await response.json()) as {
        readonly results: readonly { readonly id: string }[]
        readonly place: string
      }
    },
  }
}

/** Keeps all that a client has shown, and waits for what it shall show. */
function watch(client: ThreadClient) {
  const shown: string[] = []
  const shownJson = () => JSON.stringify(client.getSnapshot().messages)
  const record = () => void shown.push(shownJson())
  onTestFinished(client.subscribe(record))
  return {
    shown,
    until: (fits: (json: string, isRunning: boolean) => boolean) =>
      new Promise<string>((resolve) => {
        const check = () => {
          if (!fits(shownJson(), client.getSnapshot().isRunning)) return
          stop()
          resolve(shownJson())
        }
        const stop = client.subscribe(check)
        check()
      }),
  }
}

it('[OP3 LG3b] to a synchronous standby, in the middle of a turn: all that was shown is there, and the turn goes on', async (context) => {
  const pair = await openPair(context)
  const [primary, standby] = pair.urls
  await query(primary, `ALTER SYSTEM SET synchronous_standby_names = '*'`)
  await query(primary, 'SELECT pg_reload_conf()')
  let runs = 0
  const gate = Promise.withResolvers<string>()
  const hold = () => {
    runs++
    return gate.promise
  }
  const [one, two] = [openServer(pair, hold), openServer(pair, hold)]
  const response = await one.sendMessage('first')
  const attached = response.text()
  const near = watch(one.client())
  const far = watch(two.client())
  await Promise.all([near, far].map(({ until }) => until((json) => json.includes('"running"'))))
  await pair.stopPrimary()
  await query(standby, 'SELECT pg_promote()')
  gate.resolve('done')
  const ended = await Promise.all(
    [near, far].map(({ until }) =>
      until((json, isRunning) => !isRunning && json.includes('That is all.')),
    ),
  )
  const [here, there] = ended.map((json) => JSON.parse(json) as unknown)
  expect(here).toEqual(there)
  expect(await attached).toMatch(/That is all\.[^]*\[DONE\]/)
  expect(runs).toBe(1)
  expect((await two.page()).results).toHaveLength(2)
})

it('[OP3 OP6] to an asynchronous standby: a client that has seen more is notified, reads again, and never shows both', async (context) => {
  const pair = await openPair(context)
  const [primary, standby] = pair.urls
  const hold = async () => 'done'
  const [one, two] = [openServer(pair, hold), openServer(pair, hold)]
  await (await one.sendMessage('first')).text()
  const far = watch(two.client())
  await far.until((json, isRunning) => !isRunning && json.includes('That is all.'))
  const [written] = await query(primary, 'SELECT pg_current_wal_lsn() AS at')
  await pollUntil(
    () => query(standby, `SELECT pg_last_wal_replay_lsn() >= '${String(written?.['at'])}' AS is`),
    ([row]) => row?.['is'] === true,
    { what: 'the standby to have the first turn' },
  )
  await pair.cutStandby()
  await (await one.sendMessage('second')).text()
  await far.until((json, isRunning) => !isRunning && json.includes('"m-second"'))
  const { place } = await two.page()
  await pair.stopPrimary()
  await query(standby, 'SELECT pg_promote()')
  await far.until((json) => json.includes('"m-first"') && !json.includes('"m-second"'))
  const said = await pollUntil(
    () => one.sendMessage('third'),
    ({ status }) => status === 200,
    { what: 'a message to be taken by the new primary' },
  )
  await said.text()
  await far.until((json, isRunning) => !isRunning && json.includes('"m-third"'))
  expect(far.shown.filter((json) => json.includes('m-second') && json.includes('m-third'))).toEqual(
    [],
  )
  const refused = await one.fetch(`/api/threads/${thread}/events?after=${place}`)
  expect(refused.status).toBe(409)
  expect(await refused.json()).toMatchObject({ error: { code: 'other-history' } })
})
