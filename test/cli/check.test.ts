import { describe, expect, it } from 'vitest'
import { checkStore } from '../../src/audit/check-store.ts'
import { type DatabaseKind, databases, type RawDatabase } from './databases.ts'
import { damages, insertEvent } from './damages.ts'
import { runHoldfast } from './run-holdfast.ts'
import { writeThreads } from './write-threads.ts'

const kinds = Object.keys(databases) as readonly DatabaseKind[]

async function createHealthy(kind: DatabaseKind): Promise<RawDatabase> {
  const database = await databases[kind]()
  const store = database.openStore()
  await writeThreads(store)
  await store.close()
  return database
}

const check = ({ place }: RawDatabase, ...more: readonly string[]) =>
  runHoldfast(['check', '--db', place, ...more])

const countRepairs = async (database: RawDatabase): Promise<number> => {
  const [row] = await database.query('SELECT count(*) AS count FROM repairs')
  return Number(row?.['count'])
}

/** Without another process, which takes longer than the check. */
async function checkAgain(database: RawDatabase) {
  const store = database.openStore()
  try {
    return await checkStore(store, { repair: true })
  } finally {
    await store.close()
  }
}

describe.each(kinds)('holdfast check on %s', (kind) => {
  it('[CR6] finds nothing in a healthy database that is in use, with a turn under way', async () => {
    const database = await createHealthy(kind)
    expect(await check(database)).toEqual({
      code: 0,
      out: expect.stringMatching(/^Healthy: 2 threads, \d+ rows\.\n$/) as string,
      err: '',
    })
    expect((await check(database, '--repair')).out).toMatch(/^Healthy/)
  })

  it.each(damages.filter(({ sql }) => sql[kind] !== undefined))(
    '[CR6] names, mends and records: $name',
    async ({ kind: problem, names, sql }) => {
      const database = await createHealthy(kind)
      await database.damage(sql[kind] ?? '')

      const mended = await check(database, '--repair')
      const line = mended.out.split('\n').find((text) => text.startsWith(`mended  ${problem}:`))
      for (const name of names) expect(line).toContain(name)
      expect(mended.out).toMatch(/\nMended: /)
      expect(mended.code).toBe(0)

      const repairs = await countRepairs(database)
      expect(repairs).toBeGreaterThan(0)
      expect(await checkAgain(database)).toMatchObject({ found: 0 })
      expect(await countRepairs(database)).toBe(repairs)
    },
  )

  it('[CR6] leaves a turn alone that is under way, whatever it mends beside it', async () => {
    const database = await createHealthy(kind)
    await database.damage(damages.find(({ name }) => name.startsWith('a result'))?.sql[kind] ?? '')
    await check(database, '--repair')
    const store = database.openStore()
    const turn = await store.findTurn('b1')
    await store.close()
    expect(turn?.turn.progress).toEqual({ status: 'running' })
  })

  it('[CR6] ends a stuck turn with events: its call is unknown, the thread can go on', async () => {
    const database = await createHealthy(kind)
    const stuck = damages.find(({ name }) => name.includes('without a lease'))
    await database.damage(stuck?.sql[kind] ?? '')
    await check(database, '--repair')
    const store = database.openStore()
    const found = await store.readCall('live', 'c5')
    await store.close()
    expect(found?.call.state).toBe('unknown')
    expect(found?.turn.progress).toMatchObject({ status: 'ended', ending: { kind: 'interrupted' } })
  })

  it('[CR6] keeps in the record what it took away, until the thread is deleted', async () => {
    const database = await createHealthy(kind)
    await database.damage(damages.find(({ kind: is }) => is === 'ghost-call')?.sql[kind] ?? '')
    await check(database, '--repair')
    const [record] = await database.query('SELECT thread_id, problem, row_before FROM repairs')
    expect(record).toMatchObject({ thread_id: 't', problem: 'ghost-call' })
    expect(JSON.parse(String(record?.['row_before']))).toMatchObject({ call_id: 'c9' })
    const store = database.openStore()
    await store.deleteThread('t')
    await store.close()
    expect(await countRepairs(database)).toBe(0)
  })

  it('[CR6] takes apart the batch that it mends an event of, and keeps it whole in the record', async () => {
    const database = await createHealthy(kind)
    const [batch] = await database.query('SELECT * FROM events WHERE seq = 19')
    const lines = String(batch?.['payload']).split('\n')
    const [broken, gone] = ['line of a batch is broken', 'batch of an ended turn'].map((what) =>
      damages.find(({ name }) => name.includes(what)),
    )
    await database.damage(broken?.sql[kind] ?? '')
    await database.damage(gone?.sql[kind] ?? '')
    await check(database, '--repair')

    const rows = await database.query(
      'SELECT seq, size, commit_seq, at, payload FROM events WHERE seq > 5 ORDER BY seq',
    )
    const at = Number(batch?.['at'])
    expect(
      rows.map((row) => ['seq', 'size', 'commit_seq', 'at'].map((name) => Number(row[name]))),
    ).toEqual([
      [12, 1, 12, at],
      [13, 1, 13, at],
      ...[14, 15, 16, 17, 18, 19].map((seq) => [seq, 1, 19, seq === 16 ? at + 5 : at]),
    ])
    expect(rows.slice(2).map(({ payload }) => payload)).toEqual(
      lines.with(1, JSON.stringify({ type: 'lost' })),
    )
    const records = await database.query('SELECT problem, row_before FROM repairs ORDER BY id')
    const before = records.map(({ problem, row_before: row }) => {
      const { seq, size, payload } = JSON.parse(String(row)) as Record<string, unknown>
      return [problem, Number(seq), Number(size), String(payload).split('\n').length]
    })
    expect(before).toEqual([
      ['unreadable-event', 19, 6, 6],
      ['leftover-events', 6, 3, 3],
      ['leftover-events', 5, 1, 1],
      ['leftover-events', 6, 1, 1],
    ])
  })

  it('[CR6] takes no event for lost where another row claims a number in the middle of its batch', async () => {
    const database = await createHealthy(kind)
    await database.damage(insertEvent(18, { type: 'thread-renamed', title: 'X' }, null)[kind])
    expect((await check(database, '--repair')).out).toMatch(/^Healthy/)
    // Nor does that row stand in the way of a repair.
    const broken = damages.find(({ name }) => name === 'a line of a batch is broken')
    await database.damage(broken?.sql[kind] ?? '')
    expect((await check(database, '--repair')).out).toMatch(/\nMended: 1 problem /)
    const rows = await database.query('SELECT seq, size FROM events WHERE seq > 13 ORDER BY seq')
    expect(rows.map(({ seq, size }) => [Number(seq), size])).toEqual(
      [14, 15, 16, 17, 18, 19].map((seq) => [seq, 1]),
    )
  })

  it('[CR6] gives a turn whose id another thread has an id of its own, with all that is in it', async () => {
    const database = await createHealthy(kind)
    const read = async () => {
      const store = database.openStore()
      const page = await store.readPage({
        ...{ threadId: 't', limit: 10, before: null, live: 'include', results: 'full' },
      })
      const running = await store.findTurn('b1')
      await store.close()
      return { turns: page?.messages.map(({ id: _, ...rest }) => rest), running }
    }
    const before = await read()
    const shared = damages.find(({ kind: is }) => is === 'shared-turn')
    await database.damage(shared?.sql[kind] ?? '')
    await check(database, '--repair')
    expect(await read()).toEqual(before)
  })

  it('[CR6] names what has an empty id and cannot get another, and leaves it', async () => {
    const database = await createHealthy(kind)
    await database.damage(`UPDATE messages SET message_id = '' WHERE message_id = 'u1';
      UPDATE calls SET call_id = '' WHERE call_id = 'c2';
      UPDATE messages SET body = replace(body, '"id":"c2"', '"id":""') WHERE message_id = 'a1';
      UPDATE threads SET owner_id = '' WHERE id = 'live'`)
    const { code, out } = await check(database, '--repair')
    expect(code).toBe(1)
    expect(out).toContain('damaged empty-id: thread t, message , seq 1, The id of this message')
    expect(out).toContain('damaged empty-id: thread t, message a1, call , The id of this call')
    expect(out).toContain('damaged empty-id: thread live, The id of the owner of this thread')
  })

  it('[CR6] mends everything that can be wrong at once', async () => {
    const database = await createHealthy(kind)
    const apart = [
      'seq-gap',
      'thread-seq',
      'orphan-event',
      'hidden-events',
      'leftover-events',
      'shared-turn',
      'empty-id',
    ]
    const all = damages.filter(
      ({ kind: is, name }) =>
        !apart.includes(is) && !/settled twice|an ended call|dead lease$/.test(name),
    )
    for (const { sql } of all) if (sql[kind] !== undefined) await database.damage(sql[kind])
    const found = await check(database)
    expect(found.code).toBe(1)
    expect(found.out.match(/^damaged /gm)?.length).toBeGreaterThan(9)
    expect(found.out).not.toContain('damaged-file')
    expect(found.out).toContain('Run `holdfast check --repair` to mend what can be mended.')
    expect((await check(database, '--repair')).code).toBe(0)
    expect((await check(database)).out).toMatch(/^Healthy/)
  })
})

describe('holdfast check', () => {
  it('[CR6] exits with 2 where there is nothing to check', async () => {
    const missing = await runHoldfast(['check', '--db', 'no-such.db'])
    expect(missing.code).toBe(2)
    expect(missing.err).toContain('There is no database no-such.db.')
    const unreachable = await runHoldfast(['check', '--db', 'postgres://127.0.0.1:1/none'])
    expect(unreachable.code).toBe(2)
    expect(unreachable.err).toContain('PostgreSQL cannot be reached')
  })
})
