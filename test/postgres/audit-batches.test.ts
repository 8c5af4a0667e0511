import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { parseCallId } from '../../src/core/ids.ts'
import { callsOf, isTurn } from '../../src/core/message.ts'
import { checkStore } from '../../src/audit/check-store.ts'
import type { Store } from '../../src/store/store.ts'
import { readChanges, readPage } from '../../src/testing/store-rules/read-thread.ts'
import {
  append,
  begun,
  createThread,
  turnEvent,
  recorded,
  messageAdded,
  settled,
  started,
  succeeded,
  text,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

const odd = parseCallId('call "1" \\ {ü}')
const events = [
  messageAdded('Hi'),
  started(),
  ...text('One').map((event, index) => ({ ...event, at: event.at + index })),
  recorded(odd),
  begun(odd),
  succeeded({ degrees: 20 }, odd),
  turnEvent({ type: 'turn-paused', waitingFor: 'client' }),
]

async function openThread(): Promise<{ readonly store: Store; readonly client: pg.Client }> {
  const database = await openTestDatabase()
  const store = database.open()
  await createThread(store)
  await append(store, events)
  const client = await database.connect()
  await client.query('SET search_path = holdfast')
  return { store, client }
}

/** Replaces text in the lines of the batch that has the events 2 to 9. */
const spoil = (client: pg.Client, from: string, to: string) =>
  client.query('UPDATE events SET payload = replace(payload, $1, $2) WHERE size = 8', [from, to])

async function repair(store: Store): Promise<readonly string[]> {
  const kinds: string[] = []
  const onProblem = ({ kind }: { readonly kind: string }, isMended: boolean) => {
    kinds.push(isMended ? kind : `${kind} is left`)
  }
  await checkStore(store, { repair: true, onProblem })
  expect(await checkStore(store)).toMatchObject({ found: 0 })
  return kinds
}

interface Stored {
  readonly seq: number
  readonly size: number
  readonly commit: number
  readonly at: string
  readonly message_id: string
  readonly payload: string
}
const readStored = async (client: pg.Client) =>
  (
    await client.query<Stored>(`SELECT seq::integer, size, commit_seq::integer AS commit, at,
      message_id, payload FROM events ORDER BY seq`)
  ).rows

describe('[CR6] the events of a batch', () => {
  it('[CR6] are checked one by one', async () => {
    const { store } = await openThread()
    const scanned = []
    for await (const rows of store.audit!.scan()) scanned.push(...rows)
    const found = scanned.filter((row) => row.kind === 'event')
    expect(found.map(({ seq, at }) => [seq, at])).toEqual(
      events.slice(1).map(({ at }, index) => [index + 2, at]),
    )
    expect(found.every(({ commitSeq }) => commitSeq === events.length)).toBe(true)
    expect(await checkStore(store)).toMatchObject({ found: 0, rows: 11 })
  })

  it('[CR6] have rows of their own once one of them had to be replaced; the record has all', async () => {
    const { store, client } = await openThread()
    const [whole] = await readStored(client)
    await spoil(client, '"delta":"One"', '"delta":')
    const before = await readChanges(store, 0)
    expect(await repair(store)).toEqual(['unreadable-event'])

    const stored = await readStored(client)
    const lines = whole!.payload.split('\n')
    expect(stored.map(({ seq, size, commit }) => [seq, size, commit])).toEqual(
      lines.map((_, index) => [index + 2, 1, events.length]),
    )
    // Its own time went with the line that cannot be read.
    const times = events.slice(1).map(({ at }, index) => (index === 2 ? events[1]?.at : at))
    expect(stored.map(({ at }) => Number(at))).toEqual(times)
    expect(stored.every(({ message_id }) => message_id === turn)).toBe(true)
    for (const [index, { payload }] of stored.entries()) {
      if (index !== 2) expect(payload).toBe(lines[index])
    }
    const { changes } = await readChanges(store, 0)
    const others = (all: typeof changes) => all.filter(({ seq }) => seq !== 4)
    expect(others(changes)).toEqual(others(before.changes))

    const { rows } = await client.query<{ before: string }>(
      'SELECT row_before AS before FROM repairs',
    )
    expect(rows.map((row) => JSON.parse(row.before) as unknown)).toMatchObject([
      { seq: 9, size: 8, payload: whole!.payload.replace('"delta":"One"', '"delta":') },
    ])
  })

  it('[CR6] stay when one of them has to go, or its result is lost', async () => {
    const { store, client } = await openThread()
    await client.query(`ALTER TABLE calls DISABLE TRIGGER ALL;
      ALTER TABLE calls DROP CONSTRAINT calls_check; UPDATE calls SET output = NULL`)
    const again = settled({ state: 'stopped', cause: 'stopped' }, odd)
    const { at: _, turnId: __, ...line } = again as Record<string, unknown>
    await client.query(
      `UPDATE events SET payload = payload || chr(10) || $1, size = size + 1, seq = seq + 1`,
      [JSON.stringify(line)],
    )
    await client.query('UPDATE threads SET seq = seq + 1')
    const kinds = await repair(store)
    expect(kinds).toContain('missing-result')
    expect(kinds).toContain('double-result')
    const stored = await readStored(client)
    expect(stored.every(({ size }) => size === 1)).toBe(true)
    const [shown] = (await readPage(store)).messages
    if (shown === undefined || !isTurn(shown)) throw new Error('no turn')
    expect(shown.progress.status).toBe('waiting')
    expect([...callsOf(shown)]).toMatchObject([{ id: odd, state: 'interrupted' }])
    expect(shown.steps[0]?.parts[0]).toMatchObject({ text: 'One' })
  })

  it('[CR6] are not taken for lost where another row says that it has the number of one', async () => {
    const { store, client } = await openThread()
    await client.query(`INSERT INTO events (thread_id, seq, size, commit_seq, at, payload)
      SELECT thread_id, 5, 1, 5, at, '{"type":"thread-renamed","title":"X"}' FROM events`)
    const before = await readStored(client)
    expect(await repair(store)).toEqual([])
    expect(await readStored(client)).toEqual(before)
    // Nor does it stand in the way of what has to be mended.
    await spoil(client, '"delta":"One"', '"delta":')
    expect(await repair(store)).toEqual(['unreadable-event'])
    const stored = await readStored(client)
    expect(stored.map(({ seq }) => seq)).toEqual([2, 3, 4, 5, 6, 7, 8, 9])
  })
})

describe('the results of the calls of a batch', () => {
  it('[LG9] are found for those who read on, whatever the calls are named', async () => {
    const { store } = await openThread()
    const { changes } = await readChanges(store, 7, 1)
    expect(changes).toMatchObject([
      { seq: 8, event: { outcome: { output: { value: { degrees: 20 } } } } },
    ])
  })
})
