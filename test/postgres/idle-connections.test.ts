import { expect, it, onTestFinished, vi } from 'vitest'
import { parseMessageId } from '../../src/core/ids.ts'
import { planAll } from '../../src/testing/store-rules/append-events.ts'
import { append, createThread, say, thread } from '../../src/testing/store-rules/thread-script.ts'
import type { PlannedCommit } from '../../src/store/plan-commit.ts'
import { openTestDatabase } from './test-database.ts'

const message = (number: number) => say(`Message ${number}`, parseMessageId(`message-${number}`))

it('[LG3b] the connection for commits is not closed as idle while a commit is in flight on it', async () => {
  const database = await openTestDatabase()
  const store = database.open()
  await createThread(store)
  const client = await database.connect()
  // A commit waits in its transaction, where no time limit ends it, as for a standby that does not answer.
  await client.query(`CREATE TABLE held ();
    CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      WHILE EXISTS (SELECT FROM public.held) LOOP PERFORM pg_sleep(0.005); END LOOP;
      RETURN NULL; END $$;
    CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON holdfast.messages
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()`)
  const writers = async (state: 'active' | 'idle') => {
    const found = await client.query<{ pid: number }>(`SELECT pid, pg_sleep(0.005)
      FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast'
        AND query LIKE 'WITH input%' AND state = '${state}'`)
    return found.rows.map(({ pid }) => pid)
  }
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  await append(store, [message(1)])
  const [commit] = await planAll(store, [{ threadId: thread, events: [message(2)] }])
  await client.query('INSERT INTO held DEFAULT VALUES')
  await vi.advanceTimersByTimeAsync(59_999)
  const written = store.commit([commit as PlannedCommit])
  let active = await writers('active')
  while (active.length === 0) active = await writers('active')
  // A minute after the commit before, and a millisecond after this one began.
  await vi.advanceTimersByTimeAsync(1)
  expect(await writers('active')).toEqual(active)
  await client.query('DELETE FROM held')
  expect(await written).toMatchObject([{ kind: 'appended', firstSeq: 2, seq: 2 }])
  expect(await writers('idle')).toEqual(active)
})
