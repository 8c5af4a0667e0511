import { expect, it } from 'vitest'
import { turnsDuring } from '../../test/support/turns-during.ts'
import { parseOwnerId, parseThreadId } from '../core/ids.ts'
import { type ListedThreadRow, toThreadList } from './thread-row.ts'

const row = (id: string): ListedThreadRow => ({
  id: parseThreadId(id),
  ownerId: parseOwnerId('ann'),
  title: 'Title',
  createdAt: 1,
  updatedAt: 1,
  seq: 0,
  activity: 1,
  metadata: '{"a":1}',
  forkedFrom: null,
  titleNote: null,
  pinned: 0,
  archived: false,
})

it('[OP7b] the rows of a list of threads are parsed one by one, and others have their turn between them', async () => {
  const rows = ['a', 'b', 'c', 'd'].map(row)
  const { turns, result } = await turnsDuring(() => toThreadList(rows, 3))
  const { threads, hasMore } = result
  expect(threads.map(({ id, metadata }) => [id, metadata])).toEqual([
    ['a', { a: 1 }],
    ['b', { a: 1 }],
    ['c', { a: 1 }],
  ])
  expect({ hasMore, turns }).toEqual({ hasMore: true, turns: 3 })
})
