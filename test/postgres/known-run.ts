import { expect } from 'vitest'
import type { NewEvent } from '../../src/core/event.ts'
import { foldTurn } from '../../src/core/fold-turn.ts'
import type { Append } from '../../src/store/plan-commit.ts'
import {
  ana,
  at,
  begun,
  ended,
  recorded,
  say,
  started,
  thread,
  turn,
} from '../../src/testing/store-rules/thread-script.ts'
import { openTestDatabase } from './test-database.ts'

const create = { ownerId: ana, title: '', at }
export const lease = { kind: 'acquire', holder: 'a', ttlMs: 60_000, turnId: turn } as const
/** What makes the thread and begins the turn. */
export const asking: Append = {
  threadId: thread,
  create,
  lease,
  expectedSeq: 0,
  events: [say('hi'), started()],
}

/** A run that has recorded and started a call, and another process on the same database. */
export async function startRun() {
  const database = await openTestDatabase()
  const store = database.open()
  const other = database.open()
  const client = await database.connect()
  const [first] = await store.commit([asking])
  if (first?.kind !== 'appended' || first.fence === undefined) throw new Error(first?.kind)
  const { fence, seq } = first
  const write = async (events: readonly NewEvent[]) => {
    const held = { kind: 'hold', fence } as const
    const [result] = await store.commit([{ threadId: thread, lease: held, events }])
    return result
  }
  /** As a run ends its turn: with the fold, of what stood at that seq. */
  const end = async (expectedSeq: number, from = store, by = fence) => {
    const found = await from.readMessage(thread, turn)
    if (found?.role !== 'assistant') throw new Error('no turn')
    const folded = foldTurn(found, [{ ...ended(), seq: expectedSeq + 1 }])
    const seal = { seal: [turn], folded, expectedSeq }
    const release = { kind: 'release', fence: by } as const
    const append = { threadId: thread, events: [ended()], lease: release, ...seal }
    const [result] = await from.commit([append])
    return result
  }
  expect(await write([recorded(), begun()])).toMatchObject({ kind: 'appended', seq: seq + 2 })
  const query = async (text: string) => (await client.query(text)).rows as readonly object[]
  return { store, other, fence, write, end, query }
}
