import { describe, expect, it } from 'vitest'
import { parseCallId, parseMessageId, parseThreadId } from '../core/ids.ts'
import type { RepairStep, RowChange } from './audit.ts'
import {
  planOrphanRemoval,
  planRepair,
  type RowDialect,
  type RowsByTable,
  scopeOfRepair,
} from './plan-repair.ts'

const turnId = parseMessageId('a1')
const callId = parseCallId('c1')
const turn = { turnId, seq: 2 }

/** Rows of PostgreSQL, which refer to their turn by its id. */
const byId: RowDialect = {
  ofThread: { thread_id: 't' },
  ofTurn: (of) => ({ message_id: of?.turnId ?? null }),
  no: false,
  toText: (text) => text,
}
/** Rows of SQLite, which refer to their turn by its seq. */
const bySeq: RowDialect = {
  ofThread: { thread: 1 },
  ofTurn: (of) => ({ turn: of?.seq ?? null }),
  no: 0,
  toText: (text) => text,
}

const batch = {
  ...{ thread_id: 't', seq: 5, size: 3, commit_seq: 5, mark: 'k', message_id: 'a1', at: 7 },
  payload: '{"type":"one"}\n{"type":"two","at":9}\n{"type":"three"}',
}
const message = { thread_id: 't', seq: 2, message_id: 'a1', status: 'running', is_sealed: true }
const call = { thread_id: 't', call_id: 'c1', message_id: 'a1', seq: 3, life: 'ready', input: '{' }
const rows: RowsByTable = { messages: [message], events: [batch], calls: [call] }
const none: RowsByTable = { messages: [], events: [], calls: [] }

const plan = (changes: readonly RowChange[], before = rows, dialect = byId) => {
  const steps = changes.map((change): RepairStep => ({ ...change, problem: 'p', note: 'n' }))
  const request = { threadId: parseThreadId('t'), expectedSeq: 5, at: 1, steps }
  return planRepair(request, before, dialect)
}
const lost = (seq: number): RowChange => ({
  ...{ kind: 'set-event', seq, turn, at: 8, payload: '{"type":"lost"}' },
})
const beforeOf = ({ records }: ReturnType<typeof planRepair>) =>
  records.map(({ before }) => (before === null ? null : (JSON.parse(before) as unknown)))

describe('[CR6] a repair', () => {
  it('[CR6] splits a batch for one event, and each later step sees the result of the one before', () => {
    const planned = plan([lost(4), { kind: 'remove-event', seq: 5 }])
    const apart = { thread_id: 't', size: 1, commit_seq: 5, mark: 'k', message_id: 'a1' }
    expect(planned.removed.events).toEqual([5])
    expect(planned.added.events).toEqual([
      { ...apart, seq: 3, at: 7, payload: '{"type":"one"}' },
      { ...apart, seq: 4, at: 8, payload: '{"type":"lost"}' },
    ])
    expect(beforeOf(planned)).toEqual([
      batch,
      { ...apart, seq: 5, at: 7, payload: '{"type":"three"}' },
    ])
  })

  it('[CR6] keeps a row that has a seq of the batch that is split', () => {
    const other = { ...batch, seq: 4, size: 1, message_id: null, payload: '{"type":"other"}' }
    const planned = plan([lost(3)], { ...none, events: [batch, other] })
    expect(planned.removed.events).toEqual([5])
    expect(planned.added.events.map(({ seq }) => seq)).toEqual([5, 3])
    const own = plan([{ kind: 'remove-event', seq: 4 }], { ...none, events: [batch, other] })
    expect(own).toMatchObject({ removed: { events: [4] }, added: { events: [] } })
  })

  it('[CR6] renames a turn after all other steps, and every row that refers to its id', () => {
    const to = parseMessageId('a9')
    const planned = plan([{ kind: 'rename-turn', turn, to }, lost(4)])
    expect(planned.added.messages).toEqual([{ ...message, message_id: 'a9' }])
    expect(planned.added.calls).toEqual([{ ...call, message_id: 'a9' }])
    expect(planned.added.events.map(({ message_id }) => message_id)).toEqual(['a9', 'a9', 'a9'])
    const { thread_id: _, ...columns } = message
    const placed = plan([{ kind: 'rename-turn', turn, to }], { ...none, messages: [columns] })
    expect(placed).toMatchObject({ added: { messages: [{ message_id: 'a9' }], events: [] } })
  })

  it('[CR6] changes calls and messages, and writes new rows with the keys of the database', () => {
    const planned = plan([
      { kind: 'set-call', callId, lifecycle: 'succeeded', quotes: ['input'] },
      { kind: 'set-call', callId, dropsOutput: true },
      { kind: 'set-message', seq: 2, status: 'ended', isOpen: true },
      { kind: 'set-seq', seq: 9 },
    ])
    const mended = { life: 'succeeded', input: '"{"', output: null, model_output: null }
    expect(planned.removed).toEqual({ messages: [2], events: [], calls: ['c1'] })
    expect(planned.added.calls).toEqual([{ ...call, ...mended }])
    expect(planned.added.messages).toEqual([{ ...message, status: 'ended', is_sealed: false }])
    expect(planned.seq).toBe(9)
    const added = { kind: 'add-call', callId, turn, seq: 3, name: 'search', input: null } as const
    expect(plan([{ ...added, lifecycle: 'failed' }, lost(4)], none, bySeq).added).toEqual({
      messages: [],
      calls: [
        {
          ...{ thread: 1, call_id: 'c1', turn: 2, seq: 3 },
          name: 'search',
          life: 'failed',
          input: null,
        },
      ],
      events: [
        {
          ...{ thread: 1, seq: 4, size: 1, commit_seq: 4, mark: '', turn: 2 },
          at: 8,
          payload: '{"type":"lost"}',
        },
      ],
    })
  })

  it('[CR6] writes only its record where there is no such row', () => {
    const { removed, added, records } = plan(
      [{ kind: 'remove-event', seq: 9 }, { kind: 'remove-call', callId }, { kind: 'record' }],
      none,
    )
    expect([removed, added]).toEqual([none, none])
    expect(records).toEqual(Array(3).fill({ problem: 'p', note: 'n', before: null }))
  })

  it('[CR6] names the rows that it reads', () => {
    const steps = [lost(4), lost(9), { kind: 'remove-call', callId } as const]
    expect(scopeOfRepair(steps.map((step) => ({ ...step, problem: '', note: '' })))).toEqual({
      ...{ messages: [], calls: ['c1'], turns: [] },
      events: { first: 4, last: 9 },
    })
  })

  it('[CR6] removes the rows of a thread that does not exist, and records each', () => {
    const { removed, added, records } = planOrphanRemoval(rows)
    expect(removed).toEqual({ messages: [2], events: [5], calls: ['c1'] })
    expect(added).toEqual(none)
    expect(records.map(({ before }) => JSON.parse(before ?? '') as unknown)).toEqual([
      message,
      batch,
      call,
    ])
  })
})
