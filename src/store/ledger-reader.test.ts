import { expect, it } from 'vitest'
import type { CallId } from '../core/ids.ts'
import { callsOf, isTurn } from '../core/message.ts'
import { createLedgerReader } from './ledger-reader.ts'
import type { LedgerRows, LedgerSource } from './ledger-rows.ts'

const calls = Array.from({ length: 10 }, (_, index) => `c${index}`)
const outputBytes = 500_000

/** One turn with ten large results, which the first read of a page leaves out. */
const rows: LedgerRows = {
  thread: {
    ...{ threadId: 't', ownerId: 'ann', seq: 2, incarnation: '', mark: '', queue: '[]' },
    ...{ live: null, newest: null, edge: null },
  },
  messages: [
    {
      ...{
        id: 'a',
        role: 'assistant',
        status: 'ended',
        seq: 1,
        bodySeq: 2,
        commitSeq: 2,
        mark: '',
      },
      ...{ at: 1, versions: null },
      body: JSON.stringify({
        progress: { status: 'ended', ending: { kind: 'completed' }, endedAt: 1 },
        steps: [{ index: 0, parts: calls.map((id) => ({ type: 'call', id, state: 'succeeded' })) }],
      }),
    },
  ],
  batches: [],
  calls: calls.map((callId) => ({
    ...{ callId, turnId: 'a', name: 'look', lifecycle: 'succeeded', input: '{}' },
    ...{ output: null, outputBytes, modelOutput: null },
  })),
  unread: null,
}

it('[OP7] reads the results of a huge turn in portions, and all of them', async () => {
  const portions: (readonly CallId[])[] = []
  const never = () => Promise.reject(new Error('not asked for'))
  const source: LedgerSource = {
    ...{ readChangeRows: never, readMessageRows: never, readTurnRows: never, readCallRows: never },
    ...{ readPath: never, readPlace: never },
    readPageRows: () => Promise.resolve(rows),
    readOutputs(_, ids) {
      portions.push(ids)
      return Promise.resolve(new Map(ids.map((id) => [id, { output: '1', modelOutput: null }])))
    },
  }
  const page = await createLedgerReader(source).readPage({
    ...{ threadId: 't', limit: 10, before: null, live: 'include', results: 'full' },
    maxBytes: 1_000_000,
  })
  const [turn] = page?.messages ?? []
  if (turn === undefined || !isTurn(turn)) throw new Error('no turn')
  expect([...callsOf(turn)].map((call) => 'output' in call && call.output)).toEqual(
    calls.map(() => ({ kind: 'inline', value: 1 })),
  )
  expect(portions.flat()).toEqual(calls)
  expect(Math.max(...portions.map((ids) => ids.length))).toBe(2)
})
