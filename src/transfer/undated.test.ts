import { describe, expect, it } from 'vitest'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { memory } from '../store/memory/index.ts'
import type { Store } from '../store/store.ts'
import { exportThread } from './export-threads.ts'
import { importThreads } from './import-threads.ts'
import { readImport } from './read-import.ts'

const begin = 1_700_000_000_000
const day = 86_400_000
/** Long after every message. */
const imported = begin + 1_000 * day

async function* textOf(document: unknown): AsyncGenerator<string> {
  yield JSON.stringify(document)
}
const load = (store: Store, messages: readonly object[], createdAt?: string) =>
  importThreads(store, readImport(textOf({ id: 't', createdAt, messages })), {
    ownerId: parseOwnerId('local'),
    now: () => imported,
  })
const at = (second: number) => new Date(begin + second * 1_000).toISOString()
const exported = (store: Store) =>
  Array.fromAsync(exportThread(store, parseThreadId('t'), 'ui')) as Promise<readonly Json[]>

/** The messages in their order, each with the second of its date. */
const datesOf = async (store: Store) =>
  ((await exported(store)) as readonly { id: string; createdAt: string }[]).map(
    ({ id, createdAt }) => [id, (Date.parse(createdAt) - begin) / 1_000],
  )

const user = (id: string, second?: number) => message(id, 'user', second)
const answer = (id: string, second?: number, more: object = {}) => ({
  ...message(id, 'assistant', second),
  ...more,
})
const message = (id: string, role: string, second?: number) => ({
  ...{ id, role, content: `It is ${id}.` },
  ...(second === undefined ? {} : { createdAt: at(second) }),
})
const call = (from: number, to: number) => ({
  toolCalls: [
    {
      ...{ id: 'c', name: 'count', args: {}, result: 3, status: 'completed' },
      ...{ createdAt: at(from), startedAt: at(from), endedAt: at(to) },
    },
  ],
})

describe('a message without a date', () => {
  const list = [
    user('u1', 5),
    answer('a1', 6, call(7, 8)),
    user('u2'),
    answer('a2'),
    user('u3', 20),
  ]
  const dates = [
    ['u1', 5],
    ['a1', 6],
    ['u2', 8],
    ['a2', 8],
    ['u3', 20],
  ]

  it('[LE1] is dated by the end of what stands before it, not by its thread', async () => {
    const store = memory()
    await load(store, list, at(0))
    expect(await datesOf(store)).toEqual(dates)
  })

  it('[LE5] changes nothing when it is imported again', async () => {
    const store = memory()
    const first = await load(store, list, at(0))
    const before = await exported(store)
    expect(await load(store, list, at(0))).toEqual({ ...first, skipped: 5 })
    expect(await exported(store)).toEqual(before)
  })

  it('[LE1] is dated so also where a thread has no date', async () => {
    const store = memory()
    await load(store, list)
    expect(await datesOf(store)).toEqual(dates)
  })

  it('[LE1] is not later than what follows it where nothing stands before it', async () => {
    const store = memory()
    await load(store, [user('u1'), answer('a1'), user('u2', 20)])
    expect(await datesOf(store)).toEqual([
      ['u1', 20],
      ['a1', 20],
      ['u2', 20],
    ])
    const bare = memory()
    await load(bare, [user('u1'), answer('a1')], at(3))
    expect(await datesOf(bare)).toEqual([
      ['u1', 3],
      ['a1', 3],
    ])
  })

  it('[LE8] is dated by what is stored, if a later import appends it', async () => {
    const store = memory()
    await load(store, list.slice(0, 2), at(0))
    await load(store, list, at(0))
    expect(await datesOf(store)).toEqual(dates)
  })

  it('[LE8] is dated by what is stored, if a later import brings it in between', async () => {
    const store = memory()
    await load(store, [...list.slice(0, 2), ...list.slice(4)], at(0))
    await load(store, list, at(0))
    expect(await datesOf(store)).toEqual(dates)
    const before = await exported(store)
    await load(store, list, at(0))
    expect(await exported(store)).toEqual(before)
  })

  it('[LE8] is not later than what follows it, if a later import brings it to the front', async () => {
    const store = memory()
    await load(store, [user('u2', 20), answer('a2', 21)])
    await load(store, [user('u1'), answer('a1'), user('u2', 20), answer('a2', 21)])
    expect(await datesOf(store)).toEqual([
      ['u1', 20],
      ['a1', 20],
      ['u2', 20],
      ['a2', 21],
    ])
  })

  it('[LE1 OP7] is dated by the batch before it', async () => {
    const store = memory()
    const many = Array.from({ length: 600 }, (_, turn) => [
      user(`u${turn}`, turn * 2),
      answer(`a${turn}`, turn * 2 + 1),
    ]).flat()
    await load(
      store,
      [...many.slice(0, 1_000), user('x'), answer('y'), ...many.slice(1_000)],
      at(0),
    )
    expect((await datesOf(store)).slice(998, 1_003)).toEqual([
      ['u499', 998],
      ['a499', 999],
      ['x', 999],
      ['y', 999],
      ['u500', 1_000],
    ])
  })
})
