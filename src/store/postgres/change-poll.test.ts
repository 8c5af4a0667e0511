import { describe, expect, it, onTestFinished } from 'vitest'
import { parseThreadId, type ThreadId } from '../../core/ids.ts'
import type { ChangeNotification } from '../store.ts'
import { createChangePoll } from './change-poll.ts'
import type { RunStatement } from './statement.ts'

interface Found {
  readonly seq: number
  readonly incarnation?: string
  readonly isStopping?: boolean
}

/** A database whose threads are these at each poll. The last entry is repeated; `fails`: that poll throws. */
async function runPolls(
  polls: readonly (Readonly<Record<string, Found>> | 'fails')[],
  options: { readonly servers?: readonly string[] } = {},
) {
  const { servers = [] } = options
  const threads = ['a', 'b'].map((id) => parseThreadId(id))
  const posts: (readonly ChangeNotification[])[] = []
  const errors: unknown[] = []
  let unspecific = 0
  let count = 0
  const done = Promise.withResolvers<void>()
  const run: RunStatement = async <Row extends object>(_: unknown, values: readonly unknown[]) => {
    const poll = polls[Math.min(count, polls.length - 1)] as (typeof polls)[number]
    const server = servers[Math.min(count, servers.length - 1)] ?? 'one'
    if (++count > polls.length) done.resolve()
    if (poll === 'fails') throw new Error('gone')
    const [ids, seqs, incarnations, stops] = values as [ThreadId[], unknown[], unknown[], unknown[]]
    const rows = ids.flatMap((threadId, index) => {
      const found = poll[threadId]
      const now = [
        found?.seq ?? null,
        found === undefined ? null : (found.incarnation ?? 'first'),
        found === undefined ? null : (found.isStopping ?? false),
      ]
      const before = [seqs[index], incarnations[index], stops[index]]
      if (JSON.stringify(now) === JSON.stringify(before)) return []
      return [{ server, threadId, seq: now[0], incarnation: now[1], isStopping: now[2] }]
    })
    return (rows.length > 0 ? rows : [{ server, threadId: null }]) as unknown as readonly Row[]
  }
  const poll = createChangePoll({
    run,
    schema: '"holdfast"',
    pollMs: 1,
    listener: () => 'unavailable',
    followed: () => threads,
    post: (found) => void posts.push(found),
    postUnspecific: () => unspecific++,
    onError: (error) => errors.push(error),
  })
  poll.start()
  onTestFinished(() => poll.stop())
  await done.promise
  return { posts: posts.slice(0, polls.length).flat(), errors, unspecific, poll }
}

const everything = { threadId: null, seq: 0 }

describe('the changes that a poll finds', () => {
  it('[OP1] each change is notified once, and the state at the first poll', async () => {
    const { posts } = await runPolls([
      { a: { seq: 3 } },
      { a: { seq: 3 }, b: { seq: 1 } },
      { a: { seq: 5 }, b: { seq: 1 } },
    ])
    expect(posts).toEqual([
      { threadId: 'a', seq: 3 },
      { threadId: 'b', seq: 1 },
      { threadId: 'a', seq: 5 },
    ])
  })

  it('[OP1] a thread without an event is not notified as deleted', async () => {
    const { posts } = await runPolls([{ a: { seq: 0 } }, { a: { seq: 1 } }])
    expect(posts).toEqual([{ threadId: 'a', seq: 1 }])
  })

  it('[OP1] a thread that was deleted, or deleted and made again, is notified as deleted', async () => {
    const { posts } = await runPolls([
      { a: { seq: 3 }, b: { seq: 3 } },
      { b: { seq: 7, incarnation: 'second' } },
    ])
    expect(posts.slice(2)).toEqual([
      { threadId: 'a', seq: 0, incarnation: 'first' },
      { threadId: 'b', seq: 0, incarnation: 'first' },
      { threadId: 'b', seq: 7 },
    ])
  })

  it('[OP1 RS7] a stop is notified once', async () => {
    const { posts } = await runPolls([
      { a: { seq: 3 } },
      { a: { seq: 3, isStopping: true } },
      { a: { seq: 4, isStopping: true } },
    ])
    expect(posts.slice(1)).toEqual([
      { threadId: 'a', seq: 3, stop: true },
      { threadId: 'a', seq: 4 },
    ])
  })
})

describe('every follower is notified to read again', () => {
  it('[OP1 OP6] when a thread has gone back', async () => {
    const { posts } = await runPolls([{ a: { seq: 9 } }, { a: { seq: 4 } }])
    expect(posts.slice(1)).toEqual([everything, { threadId: 'a', seq: 4 }])
  })

  it('[OP1 OP6] when another server answers, as after a fail-over behind a pooler', async () => {
    const { posts } = await runPolls([{ a: { seq: 9 } }, { a: { seq: 12 } }], {
      servers: ['one', 'two'],
    })
    expect(posts.slice(1)).toEqual([everything, { threadId: 'a', seq: 12 }])
  })

  it('[OP1] after failed polls; the fault is reported once', async () => {
    const { posts, errors } = await runPolls([
      { a: { seq: 9 } },
      'fails',
      'fails',
      { a: { seq: 9 } },
    ])
    expect(posts).toEqual([{ threadId: 'a', seq: 9 }, everything])
    expect(errors).toHaveLength(1)
  })
})

it('[OP1] listeners without followed threads are notified at each poll', async () => {
  const { unspecific } = await runPolls([{}, {}, {}])
  expect(unspecific).toBeGreaterThan(2)
})

it('[OP1] the seqs of threads come from a poll, and there is none while it is stopped', async () => {
  const { poll } = await runPolls([{ a: { seq: 3 } }])
  expect(await poll.readSeqs([parseThreadId('a'), parseThreadId('b')])).toEqual(
    new Map([['a', { seq: 3, incarnation: 'first' }]]),
  )
  poll.stop()
  expect(await poll.readSeqs([parseThreadId('a')])).toBeNull()
})
