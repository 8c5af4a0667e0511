import { expect, it } from 'vitest'
import { parseMessageId, parseThreadId } from '../../core/ids.ts'
import { planCommit } from '../plan-commit.ts'
import { createFateReader } from './commit-fate.ts'
import type { RunStatement } from './statement.ts'

it('[LG3b] a lease that was taken without events is found at the end of the thread, as if its answer had come', async () => {
  const turnId = parseMessageId('turn')
  const planned = planCommit({
    threadId: parseThreadId('thread'),
    events: [],
    lease: { kind: 'acquire', holder: 'me', ttlMs: 60_000, turnId },
  })
  if ('kind' in planned) throw new Error('The commit was not planned.')
  const row = { incarnation: 'i', seq: 7, fence: 3, holder: 'me', turn: turnId }
  const run = (async () => [{ ...row, isStopping: false, same: 0 }]) as unknown as RunStatement
  expect(await createFateReader(run, '"holdfast"')(planned)).toEqual({
    kind: 'appended',
    firstSeq: 8,
    seq: 7,
    fence: 3,
    stopRequested: false,
    incarnation: 'i',
  })
})
