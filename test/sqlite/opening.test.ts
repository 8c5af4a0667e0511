import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { HoldfastError } from '../../src/core/holdfast-error.ts'
import { parseMessageId, parseOwnerId, parseThreadId } from '../../src/core/ids.ts'
import { sqlite } from '../../src/store/sqlite/index.ts'
import { ledger } from '../../src/store/sqlite/migrations/0001-ledger.ts'
import { eventsWithoutRowid } from '../../src/store/sqlite/migrations/0002-events-without-rowid.ts'
import { allMigrations } from '../../src/store/sqlite/migrations/all-migrations.ts'
import { isCurrentDatabase, migrate } from '../../src/store/sqlite/open-database.ts'
import type { Store } from '../../src/store/store.ts'
import { appendEvents, commitTogether } from '../../src/testing/store-rules/append-events.ts'
import { openRaw, openStore, temporaryFile } from './temporary-file.ts'

const threadId = parseThreadId('thread')
const create = (store: Store) =>
  store.createThread({ id: threadId, ownerId: parseOwnerId('ana'), title: '', at: 1 })

function faultOf(open: () => unknown): string {
  try {
    open()
  } catch (error) {
    if (error instanceof HoldfastError) return error.code
    throw error
  }
  return 'none'
}

it('[LG3] writes through to the disk, ahead of everything else', async () => {
  const file = temporaryFile()
  await create(openStore(file))
  const raw = openRaw(file)
  expect(raw.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
  expect(raw.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
  expect(raw.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x686f6c64 })
})

it('brings a database of an older version up to date, and shows what it showed', async () => {
  const file = temporaryFile()
  const raw = openRaw(file)
  raw.exec(`${ledger} PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 1;
    INSERT INTO threads (thread, id, owner_id, title, created_at, updated_at, seq, activity, changed, fence)
      VALUES (1, 'thread', 'ana', 'Old', 1, 1, 3, 1, 1, 0);
    INSERT INTO messages (thread, seq, message_id, role, status, is_sealed, commit_seq, created_at)
      VALUES (1, 1, 'turn', 'assistant', 'running', 0, 3, 1);
    INSERT INTO events (thread, seq, commit_seq, turn, at, payload) VALUES
      (1, 1, 3, 1, 1, '{"type":"turn-started","replyTo":null}'),
      (1, 2, 3, 1, 1, '{"type":"text-started","block":"0","kind":"text"}'),
      (1, 3, 3, 1, 1, '{"type":"text-appended","block":"0","delta":"Kept"}')`)
  raw.close()
  const store = openStore(file)
  expect(await store.readMessage(threadId, parseMessageId('turn'))).toMatchObject({
    lastSeq: 3,
    steps: [{ parts: [{ type: 'text', text: 'Kept', state: 'streaming' }] }],
  })
  const change = openRaw(file).prepare(`UPDATE events SET payload = '{}'`)
  expect(() => change.run()).toThrow('a fact never changes')
})

it('reads the events of version 2, when each was a row of its own', async () => {
  const file = temporaryFile()
  const raw = openRaw(file)
  raw.exec(`${ledger} ${eventsWithoutRowid}
    PRAGMA application_id = ${0x686f6c64}; PRAGMA user_version = 2;
    INSERT INTO threads (thread, id, owner_id, title, created_at, updated_at, seq, activity, changed, fence)
      VALUES (1, 'thread', 'ana', 'Old', 1, 1, 9, 1, 1, 0);
    INSERT INTO messages (thread, seq, message_id, role, status, is_sealed, commit_seq, created_at)
      VALUES (1, 1, 'turn', 'assistant', 'running', 0, 1, 1);
    INSERT INTO calls (thread, call_id, turn, seq, name, life, input, output, model_output) VALUES
      (1, 'done', 1, 3, 'look_up', 'succeeded', '{"city":"Oslo"}', '{"degrees":20}', '"20"'),
      (1, 'open', 1, 4, 'look_up', 'running', '{"city":"Rome"}', NULL, NULL);
    INSERT INTO events (thread, seq, commit_seq, turn, call_id, at, payload) VALUES
      (1, 1, 1, 1, NULL, 1, '{"type":"turn-started","replyTo":null}'),
      (1, 2, 4, 1, NULL, 2, '{"type":"step-st\n\n'),
      (1, 3, 4, 1, 'done', 2, '{"type":"call-recorded","callId":"done","input":{"city":"Oslo"},
        "call":{"id":"done","providerCallId":"p1","name":"look_up"},"approval":"not-required"}'),
      (1, 4, 4, 1, 'open', 3, '{"type":"call-recorded","callId":"open","input":{"city":"Rome"},
        "call":{"id":"open","providerCallId":"p2","name":"look_up"},"approval":"not-required"}'),
      (1, 5, 6, 1, 'done', 4, '{"type":"call-started","callId":"done"}'),
      (1, 6, 6, 1, 'open', 5, '{"type":"call-started","callId":"open"}'),
      (1, 7, 7, NULL, NULL, 6, '{"type":"thread-renamed","title":"Old"}'),
      (1, 8, 8, 1, 'done', 7, '{"type":"call-settled","callId":"done","outcome":{"state":"succeeded"}}'),
      (1, 9, 9, 1, NULL, 8, '{"type":"text-started","block":"0","kind":"text"}')`)
  raw.close()
  const store = openStore(file)
  const output = { kind: 'inline', value: { degrees: 20 } }
  const done = { id: 'done', state: 'succeeded', output, modelOutput: '20', endedAt: 7 }
  const open = { id: 'open', state: 'running', input: { value: { city: 'Rome' } }, startedAt: 5 }
  const turnId = parseMessageId('turn')
  expect(await store.readMessage(threadId, turnId)).toMatchObject({
    lastSeq: 9,
    unreadable: 1,
    progress: { status: 'running' },
    steps: [{ parts: [done, open, { type: 'text', text: '', state: 'streaming' }] }],
  })
  const read = await store.readChanges({ threadId, after: 0, limit: 100, results: 'full' })
  expect(read?.changes.map(({ seq, commit }) => [seq, commit])).toEqual(
    [1, 4, 4, 4, 6, 6, 7, 8, 9].map((commit, index) => [index + 1, commit]),
  )
  expect(read?.changes[1]).toMatchObject({ event: { type: 'unreadable', at: 2 } })
  expect(read?.changes[7]).toMatchObject({ event: { outcome: { output, modelOutput: '20' } } })
  const more = { type: 'text-appended', turnId, at: 9, block: '0', delta: 'New' } as const
  expect(await appendEvents(store, { threadId, events: [more] })).toMatchObject({ seq: 10 })
  const change = openRaw(file).prepare(`UPDATE events SET payload = '{}'`)
  expect(() => change.run()).toThrow('a fact never changes')
})

it('keeps a database in memory where that is requested', async () => {
  const store = openStore(':memory:')
  await create(store)
  expect(await store.readThread(threadId)).toMatchObject({ id: threadId })
  expect(await openStore(':memory:').readThread(threadId)).toBeNull()
})

it('says that a database is locked, on opening and on writing, and goes on afterwards', async () => {
  const file = temporaryFile()
  const store = openStore(file, { busyTimeoutMs: 1 })
  await create(store)
  const raw = openRaw(file)
  raw.exec('BEGIN IMMEDIATE')
  expect(faultOf(() => sqlite(file, { busyTimeoutMs: 1 }))).toBe('store-locked')
  const message = {
    type: 'message-added',
    messageId: parseMessageId('user'),
    role: 'user',
    parts: [],
    at: 1,
  } as const
  const commit = () => appendEvents(store, { threadId, events: [message] })
  await expect(commit()).rejects.toMatchObject({ code: 'store-locked' })
  expect(await store.readThread(threadId)).toMatchObject({ seq: 0 })
  raw.exec('ROLLBACK')
  expect(await commit()).toMatchObject({ kind: 'appended', seq: 1 })
})

it('says that a database is read-only, though it has nothing to change in it', async () => {
  const file = temporaryFile()
  const store = sqlite(file)
  await create(store)
  await store.close()
  // An account that may write everywhere has no other way to open it so.
  const raw = new DatabaseSync(file, { readOnly: true })
  onTestFinished(() => raw.close())
  expect(() => migrate(raw)).toThrow(/readonly/)
})

/** What the next version would leave behind. */
function upgrade(file: string, step: string, isAdditive: boolean): void {
  const raw = openRaw(file)
  const version = allMigrations.length + 1
  migrate(raw, [...allMigrations, step], new Set(isAdditive ? [version] : []))
  expect(raw.prepare('PRAGMA user_version').get()).toEqual({ user_version: version })
}

it('[LG12] runs on a database that a newer version has only added to', async () => {
  const file = temporaryFile()
  const before = openStore(file)
  await create(before)
  upgrade(file, 'ALTER TABLE threads ADD COLUMN mood TEXT; CREATE TABLE moods (id TEXT)', true)
  // The one that is open goes on, and it can be opened again.
  for (const [index, store] of [before, openStore(file)].entries()) {
    const event = { type: 'thread-renamed', title: `Name ${index}`, at: 1 } as const
    expect(await appendEvents(store, { threadId, events: [event] })).toMatchObject({
      kind: 'appended',
      seq: index + 1,
    })
  }
  expect(openRaw(file).prepare('SELECT title, mood FROM threads').all()).toEqual([
    { title: 'Name 1', mood: null },
  ])
  expect(isCurrentDatabase(file)).toBe(true)
})

it('[LG12] refuses a database that a newer version has changed, however much it has only added since', async () => {
  const file = temporaryFile()
  await create(openStore(file))
  upgrade(file, 'ALTER TABLE threads RENAME COLUMN title TO name', false)
  expect(faultOf(() => sqlite(file))).toBe('store-newer')
  const raw = openRaw(file)
  const steps = [...allMigrations, '', 'CREATE TABLE moods (id TEXT)']
  migrate(raw, steps, new Set([steps.length]))
  expect(faultOf(() => sqlite(file))).toBe('store-newer')
  expect(raw.prepare('PRAGMA user_version').get()).toEqual({ user_version: steps.length })
})

it('[LG12] leaves a database of a newer version alone', async () => {
  const file = temporaryFile()
  const store = sqlite(file)
  await store.close()
  openRaw(file).exec('PRAGMA user_version = 99')
  expect(faultOf(() => sqlite(file))).toBe('store-newer')
  expect(openRaw(file).prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 })
})

it('leaves a file alone that is no database', () => {
  const file = temporaryFile()
  writeFileSync(file, 'Dear diary, '.repeat(1000))
  expect(faultOf(() => sqlite(file))).toBe('store-foreign')
  expect(readFileSync(file, 'utf8')).toBe('Dear diary, '.repeat(1000))
})

it('leaves the database of another program alone', () => {
  const file = temporaryFile()
  const raw = openRaw(file)
  raw.exec('CREATE TABLE threads (id INTEGER PRIMARY KEY, yarn TEXT)')
  raw.close()
  const before = readFileSync(file)
  expect(faultOf(() => sqlite(file))).toBe('store-foreign')
  expect(readFileSync(file).equals(before)).toBe(true)

  const marked = temporaryFile()
  openRaw(marked).exec('PRAGMA application_id = 7')
  expect(faultOf(() => sqlite(marked))).toBe('store-foreign')
})

it('says so when the file cannot be opened or is damaged', async () => {
  const folder = temporaryFile()
  mkdirSync(folder)
  expect(faultOf(() => sqlite(folder))).toBe('store-failed')
  expect(faultOf(() => sqlite(`${dirname(folder)}/nowhere/chat.db`))).toBe('store-failed')

  const file = temporaryFile()
  const store = sqlite(file)
  await store.close()
  const raw = openRaw(file)
  raw.exec('DROP TABLE calls')
  raw.close()
  expect(faultOf(() => sqlite(file))).toBe('store-failed')
})

it('[LG3] stores nothing of a group whose writing fails, and goes on afterwards', async () => {
  const file = temporaryFile()
  const store = openStore(file)
  await create(store)
  // Not a refusal of the row, but a fault: no constraint fails.
  openRaw(file).exec(`CREATE TRIGGER fail BEFORE INSERT ON messages WHEN NEW.message_id = 'bad'
    BEGIN SELECT json('{'); END`)
  const append = (expectedSeq: number, ...ids: readonly string[]) => ({
    threadId,
    expectedSeq,
    events: ids.map((id) => {
      const messageId = parseMessageId(id)
      return { type: 'message-added', messageId, role: 'user', parts: [], at: 1 } as const
    }),
  })
  const group = [append(0, 'one'), append(1, 'two', 'bad'), append(3, 'three')]
  const commit = commitTogether(store, group)
  await expect(commit).rejects.toMatchObject({ code: 'store-failed' })
  expect(await store.readThread(threadId)).toMatchObject({ seq: 0 })
  expect(await appendEvents(store, append(0, 'one'))).toMatchObject({ kind: 'appended', seq: 1 })
})

it('[LG7 OP7] reads a long text of a file that was made in another encoding', async () => {
  const file = temporaryFile()
  openRaw(file).exec(`PRAGMA encoding = 'UTF-16le'; CREATE TABLE first (id); DROP TABLE first`)
  const store = openStore(file)
  await create(store)
  const text = 'Ωμέγα, '.repeat(20_000)
  const at = { at: 1, messageId: parseMessageId('long'), parts: [{ type: 'text', text }] } as const
  await appendEvents(store, {
    threadId,
    expectedSeq: 0,
    events: [{ type: 'message-added', role: 'user', ...at }],
  })
  expect(await store.readMessage(threadId, at.messageId)).toMatchObject({ parts: at.parts })
})
