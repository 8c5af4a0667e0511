import { describe, expect, it } from 'vitest'
import type { Call } from '../core/call.ts'
import { parseCallId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { type CallProgress, projectProgress } from './call-progress.ts'

const base = {
  type: 'call',
  id: parseCallId('c'),
  providerCallId: 'c',
  name: 'read_pages',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 0,
} as const
const running = (preliminary: Json): Call => ({
  ...base,
  state: 'running',
  startedAt: 1,
  preliminary,
})

describe('the progress of a call', () => {
  it.each<[string, Json, CallProgress | null]>([
    ['a sentence', 'Reading page 3', { message: 'Reading page 3' }],
    ['its first line', '\n Reading\nand more', { message: 'Reading' }],
    ['a count', { progress: 3 }, { done: 3 }],
    ['a part of a total', { progress: 3, total: 10 }, { done: 3, total: 10 }],
    ['all three', { message: 'M', progress: 0, total: 1 }, { message: 'M', done: 0, total: 1 }],
    ['no more than the total', { progress: 12, total: 10 }, { done: 10, total: 10 }],
    ['a count, if the total is none', { progress: 3, total: 0 }, { done: 3 }],
    [
      'a sentence, if the count is none',
      { message: 'M', progress: -1, total: 5 },
      { message: 'M' },
    ],
    ['nothing: a total alone', { total: 10 }, null],
    ['nothing: other words', { status: 'working', rows: [1] }, null],
    ['nothing: a blank', '  ', null],
    ['nothing: wrong types', { message: 3, progress: '3' }, null],
    ['nothing: a list', [1, 2], null],
    ['nothing: null', null, null],
  ])('[CO6] is %s', (_, yielded, progress) => {
    expect(projectProgress(running(yielded))).toEqual(progress)
  })

  it('[CO6] is cut where a line would be too long', () => {
    const { message } = projectProgress(running('x'.repeat(5_000))) ?? {}
    expect(message).toBe(`${'x'.repeat(200)}…`)
  })

  it('[CO6] is none of a call that does not run, whatever its result has', () => {
    const output = { kind: 'inline', value: { message: 'M', progress: 1 } } as const
    expect(
      projectProgress({ ...base, state: 'succeeded', output, startedAt: 1, endedAt: 2 }),
    ).toBeNull()
    expect(projectProgress({ ...base, state: 'running', startedAt: 1 })).toBeNull()
    expect(projectProgress({ ...base, state: 'ready' })).toBeNull()
  })
})
