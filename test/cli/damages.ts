import type { DatabaseKind } from './databases.ts'

/** What is done to the database of `write-threads.ts`, and what `check` must then say. */
export interface Damage {
  readonly name: string
  readonly kind: string
  /** What the line about it names. */
  readonly names: readonly string[]
  readonly sql: Partial<Readonly<Record<DatabaseKind, string>>>
}

const both = (
  toSql: (of: { thread: string; turn: (seq: number, id: string) => string }) => string,
) => ({
  sqlite: toSql({ thread: 'thread = 1', turn: (seq) => `turn = ${seq}` }),
  postgres: toSql({ thread: `thread_id = 't'`, turn: (_, id) => `message_id = '${id}'` }),
})

export const insertEvent = (
  seq: number,
  payload: object,
  turn: { seq: number; id: string } | null,
  size = 1,
) => {
  const text = Array.from({ length: size }, () => JSON.stringify(payload)).join('\n')
  return {
    sqlite: `INSERT INTO events (thread, seq, size, commit_seq, turn, at, payload)
      VALUES (1, ${seq}, ${size}, ${seq}, ${turn?.seq ?? 'NULL'}, 1, '${text}')`,
    postgres: `INSERT INTO events (thread_id, seq, size, commit_seq, message_id, at, payload)
      VALUES ('t', ${seq}, ${size}, ${seq}, ${turn === null ? 'NULL' : `'${turn.id}'`}, 1, '${text}')`,
  }
}
const insertCall = (id: string, turn: { seq: number; id: string }) => ({
  sqlite: `INSERT INTO calls (thread, call_id, turn, seq, name, life)
    VALUES (1, '${id}', ${turn.seq}, 900, 'search', 'failed')`,
  postgres: `INSERT INTO calls (thread_id, call_id, message_id, seq, name, life)
    VALUES ('t', '${id}', '${turn.id}', 900, 'search', 'failed')`,
})
const alsoSeq = (sql: { sqlite: string; postgres: string }, seq: number) => ({
  sqlite: `${sql.sqlite}; UPDATE threads SET seq = ${seq} WHERE id = 't'`,
  postgres: `${sql.postgres}; UPDATE threads SET seq = ${seq} WHERE id = 't'`,
})
const renameTurn = (from: string, to: string) => {
  const rename = (table: string) =>
    `UPDATE ${table} SET message_id = '${to}' WHERE message_id = '${from}'`
  return {
    sqlite: rename('messages'),
    postgres: ['messages', 'events', 'calls'].map(rename).join('; '),
  }
}
const ended = { seq: 2, id: 'a1' }
const nobody = { seq: 15, id: 'nobody' }
const everywhere = (sql: string) => ({ sqlite: sql, postgres: sql })

export const damages: readonly Damage[] = [
  {
    name: 'a row is gone from the middle',
    kind: 'seq-gap',
    names: ['thread t', 'seq 13'],
    sql: both(({ thread }) => `DELETE FROM events WHERE ${thread} AND seq = 13`),
  },
  {
    name: 'a batch is gone',
    kind: 'seq-gap',
    names: ['thread t', 'seq 19', 'from 14 to 19'],
    sql: both(({ thread }) => `DELETE FROM events WHERE ${thread} AND seq = 19`),
  },
  {
    name: 'the start of a turn is gone',
    kind: 'seq-gap',
    names: ['thread t', 'message a2', 'seq 12'],
    sql: both(({ thread }) => `DELETE FROM events WHERE ${thread} AND seq = 12`),
  },
  {
    name: 'the end of a thread is gone',
    kind: 'seq-gap',
    names: ['thread t', 'seq 25'],
    sql: everywhere(`UPDATE threads SET seq = 25 WHERE id = 't'`),
  },
  {
    name: 'a thread stands behind its events',
    kind: 'thread-seq',
    names: ['thread t', 'seq 19'],
    sql: everywhere(`UPDATE threads SET seq = 17 WHERE id = 't'`),
  },
  {
    name: 'a message and an event have one number',
    kind: 'seq-overlap',
    names: ['thread t', 'seq 11'],
    sql: insertEvent(11, { type: 'thread-renamed', title: 'Other' }, null),
  },
  {
    name: 'a turn runs without a lease',
    kind: 'stuck-turn',
    names: ['thread live', 'message b1'],
    sql: everywhere(
      `UPDATE threads SET lease_holder = NULL, lease_turn = NULL, lease_until = NULL WHERE id = 'live'`,
    ),
  },
  {
    name: 'a turn runs with a dead lease',
    kind: 'stuck-turn',
    names: ['thread live', 'message b1'],
    sql: {
      // Of a process that is seen to live it would bind all the same.
      sqlite: `UPDATE threads SET lease_holder = 'gone', lease_until = 1 WHERE id = 'live'`,
      postgres: `UPDATE threads SET lease_until = now() - interval '1 minute' WHERE id = 'live'`,
    },
  },
  {
    name: 'a dead lease is for a turn that does not exist',
    kind: 'stale-lease',
    names: ['thread t', 'message gone'],
    sql: {
      sqlite: `UPDATE threads SET lease_holder = 'x', lease_turn = 'gone', lease_until = 1 WHERE id = 't'`,
      postgres: `UPDATE threads SET lease_holder = 'x', lease_turn = 'gone',
        lease_until = now() - interval '1 minute' WHERE id = 't'`,
    },
  },
  {
    name: 'a call is open in a turn that has ended',
    kind: 'open-call',
    names: ['thread t', 'message a1', 'call c2'],
    sql: both(
      ({ thread }) => `UPDATE calls SET life = 'running' WHERE ${thread} AND call_id = 'c2'`,
    ),
  },
  {
    name: 'a call has no turn',
    kind: 'orphan-call',
    names: ['thread t', 'call c8'],
    sql: insertCall('c8', nobody),
  },
  {
    name: 'an event has no turn',
    kind: 'orphan-event',
    names: ['thread t', 'seq 20'],
    sql: alsoSeq(insertEvent(20, { type: 'step-abandoned' }, nobody), 20),
  },
  {
    name: 'rows have no thread',
    kind: 'orphan-rows',
    names: ['1 rows'],
    sql: {
      sqlite: `INSERT INTO events (thread, seq, size, commit_seq, at, payload)
        VALUES (77, 1, 1, 1, 1, '{}')`,
      postgres: `INSERT INTO events (thread_id, seq, size, commit_seq, at, payload)
        VALUES ('nowhere', 1, 1, 1, 1, '{}')`,
    },
  },
  {
    name: 'the row with the result of an ended call is gone',
    kind: 'missing-result',
    names: ['thread t', 'message a1', 'call c1'],
    sql: both(({ thread }) => `DELETE FROM calls WHERE ${thread} AND call_id = 'c1'`),
  },
  {
    name: 'the result of an open turn is gone',
    kind: 'missing-result',
    names: ['thread t', 'message a2', 'call c3'],
    sql: both(({ thread }) => `UPDATE calls SET output = NULL WHERE ${thread} AND call_id = 'c3'`),
  },
  {
    name: 'a call that failed has a result',
    kind: 'double-result',
    names: ['thread t', 'message a1', 'call c2'],
    sql: both(({ thread }) => `UPDATE calls SET output = '1' WHERE ${thread} AND call_id = 'c2'`),
  },
  {
    name: 'a call is settled twice',
    kind: 'double-result',
    names: ['thread t', 'message a2', 'seq 20'],
    sql: alsoSeq(
      insertEvent(
        20,
        { type: 'call-settled', callId: 'c3', outcome: { state: 'stopped', cause: 'stopped' } },
        { seq: 12, id: 'a2' },
      ),
      20,
    ),
  },
  {
    name: 'a call is there that no event knows',
    kind: 'ghost-call',
    names: ['thread t', 'message a1', 'call c9'],
    sql: insertCall('c9', ended),
  },
  {
    name: 'a call that waits has lost its row',
    kind: 'missing-call',
    names: ['thread t', 'message a2', 'call c4'],
    sql: both(({ thread }) => `DELETE FROM calls WHERE ${thread} AND call_id = 'c4'`),
  },
  {
    name: 'a call stands elsewhere than its events say',
    kind: 'life-differs',
    names: ['thread t', 'message a2', 'call c4'],
    sql: both(({ thread }) => `UPDATE calls SET life = 'ready' WHERE ${thread} AND call_id = 'c4'`),
  },
  {
    name: 'a turn stands elsewhere than its events say',
    kind: 'status-differs',
    names: ['thread t', 'message a2'],
    sql: both(({ thread }) => `UPDATE messages SET status = 'ended' WHERE ${thread} AND seq = 12`),
  },
  {
    name: 'events of an ended turn are left over',
    kind: 'leftover-events',
    names: ['thread t', 'message a1'],
    sql: insertEvent(5, { type: 'step-abandoned' }, ended),
  },
  {
    name: 'a batch of an ended turn is left over',
    kind: 'leftover-events',
    names: ['thread t', 'message a1', '3 of its events'],
    sql: insertEvent(6, { type: 'step-abandoned' }, ended, 3),
  },
  {
    name: 'events after the snapshot are hidden',
    kind: 'hidden-events',
    names: ['thread t', 'message a1'],
    sql: alsoSeq(insertEvent(20, { type: 'step-abandoned' }, ended), 20),
  },
  {
    name: 'the body of a turn is broken',
    kind: 'unreadable-body',
    names: ['thread t', 'message a1'],
    sql: both(({ thread }) => `UPDATE messages SET body = '{"prog' WHERE ${thread} AND seq = 2`),
  },
  {
    name: 'the body of a person’s message is broken',
    kind: 'unreadable-body',
    names: ['thread t', 'message u1'],
    sql: both(({ thread }) => `UPDATE messages SET body = 'What?' WHERE ${thread} AND seq = 1`),
  },
  {
    name: 'an event is broken',
    kind: 'unreadable-event',
    names: ['thread t', 'message a2', 'seq 13'],
    sql: both(
      ({ thread }) => `UPDATE events SET payload = '{"type":"st' WHERE ${thread} AND seq = 13`,
    ),
  },
  {
    name: 'a line of a batch is broken',
    kind: 'unreadable-event',
    names: ['thread t', 'message a2', 'seq 15'],
    sql: both(
      ({ thread }) => `UPDATE events SET payload = replace(payload, '"call-started"', '"call')
        WHERE ${thread} AND seq = 19`,
    ),
  },
  {
    name: 'a line of a batch is gone',
    kind: 'unreadable-event',
    names: ['thread t', 'message a2', 'seq 19'],
    sql: both(
      ({ thread }) => `UPDATE events
        SET payload = replace(payload, '{"type":"call-started","callId":"c3"}\n', '')
        WHERE ${thread} AND seq = 19`,
    ),
  },
  {
    name: 'a result is broken',
    kind: 'unreadable-json',
    names: ['thread t', 'message a1', 'call c1'],
    sql: both(({ thread }) => `UPDATE calls SET output = '{"a' WHERE ${thread} AND call_id = 'c1'`),
  },
  {
    name: 'two threads have a turn of one id',
    kind: 'shared-turn',
    names: ['thread t', 'message b1', 'thread live'],
    sql: renameTurn('a1', 'b1'),
  },
  {
    name: 'a turn has an empty id',
    kind: 'empty-id',
    names: ['thread t', 'seq 12'],
    sql: renameTurn('a2', ''),
  },
]
