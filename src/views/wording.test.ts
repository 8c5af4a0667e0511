import { describe, expect, test } from 'vitest'
import type { Call, CallOutcome, EndedCall } from '../core/call.ts'
import { parseCallId } from '../core/ids.ts'
import { errorTextOf, modelTextOf, type UnsuccessfulCall } from './wording.ts'

const base = {
  type: 'call',
  id: parseCallId('c1'),
  providerCallId: 'call_1',
  name: 'weather',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 1,
} as const
const ended = (
  outcome: Exclude<CallOutcome, { state: 'succeeded' }>,
  more: Partial<EndedCall> = {},
): UnsuccessfulCall => ({ ...base, ...more, ...outcome, endedAt: 2 })

const didNotRun = 'It did not run and had no effect.'
const mayHaveRun = 'It may or may not have taken effect: do not assume either.'
const unlessAsked = 'Do not try it again unless the user asks for it.'

const cases: readonly (readonly [string, UnsuccessfulCall, string, string])[] = [
  [
    'failed',
    ended({ state: 'failed', cause: 'tool-error', error: 'No such city.' }),
    'No such city.',
    'No such city.',
  ],
  [
    'failed without a word',
    ended({ state: 'failed', cause: 'timeout', error: ' ' }),
    'The tool failed and gave no reason.',
    'The tool failed and gave no reason.',
  ],
  [
    'denied',
    ended({ state: 'denied', cause: 'denied' }),
    'Declined.',
    `The user declined this call. ${didNotRun} ${unlessAsked}`,
  ],
  [
    'denied with feedback',
    ended({ state: 'denied', cause: 'denied', feedback: 'Too dear.' }),
    'Declined: Too dear.',
    `The user declined this call. ${didNotRun} ${unlessAsked} The user said: Too dear.`,
  ],
  [
    'superseded',
    ended({ state: 'denied', cause: 'superseded' }),
    'Not run: you wrote again first.',
    `The user wrote a new message instead of approving this call. ${didNotRun} ${unlessAsked}`,
  ],
  [
    'stopped',
    ended({ state: 'stopped', cause: 'stopped' }),
    'Stopped before it ran.',
    `The user stopped this call. ${didNotRun}`,
  ],
  [
    'stopped while running',
    ended({ state: 'stopped', cause: 'stopped' }, { startedAt: 1 }),
    'Stopped while it was running.',
    `The user stopped this call. ${mayHaveRun}`,
  ],
  [
    'interrupted by an error',
    ended({ state: 'interrupted', cause: 'stream-failed' }),
    'Not run: the answer broke off with an error.',
    `This call was broken off: the answer ended with an error. ${didNotRun}`,
  ],
  [
    'interrupted by a crash',
    ended({ state: 'interrupted', cause: 'crashed' }),
    'Not run: the server stopped.',
    `This call was broken off: the server stopped. ${didNotRun}`,
  ],
  [
    'interrupted by a limit, though it ran',
    ended({ state: 'interrupted', cause: 'over-limit' }, { startedAt: 1 }),
    'Broken off: the answer reached its limit.',
    `This call was broken off: the answer reached its length or step limit. ${mayHaveRun}`,
  ],
  [
    'interrupted by a message',
    ended({ state: 'interrupted', cause: 'superseded' }),
    'Not run: you wrote again.',
    `This call was broken off: the user wrote a new message. ${didNotRun}`,
  ],
  [
    'unknown',
    ended({ state: 'unknown', cause: 'crashed' }, { startedAt: 1 }),
    'The outcome is unknown: the server stopped while it was running.',
    `The server stopped while this call was running, so its outcome is unknown. ${mayHaveRun} ${unlessAsked}`,
  ],
  [
    'unknown and skipped',
    ended(
      { state: 'unknown', cause: 'crashed' },
      { startedAt: 1, resolution: { kind: 'skip', by: 'ana', at: 2 } },
    ),
    'The outcome is unknown, and it was skipped.',
    `The server stopped while this call was running, so its outcome is unknown. ${mayHaveRun} The user chose to go on all the same. ${unlessAsked}`,
  ],
]

describe('the wording of a call', () => {
  test.each(cases)('[ST3] that is %s', (_, call, people, model) => {
    expect([errorTextOf(call), modelTextOf(call)]).toEqual([people, model])
  })

  test('[ST3] that is still open says that it has no result', () => {
    const open = (state: string, more: object = {}) => ({ ...base, state, ...more }) as Call
    const calls = [
      open('streaming'),
      open('awaiting-approval'),
      open('ready'),
      open('running', { startedAt: 1 }),
    ]
    const texts = calls.map((call) => modelTextOf(call as Parameters<typeof modelTextOf>[0]))
    expect(texts).toEqual([
      `This call was cut off before its arguments were complete. ${didNotRun}`,
      'This call waits for the approval of the user. It has not run yet.',
      'This call has not run yet, so it has no result.',
      `This call has no result yet. ${mayHaveRun}`,
    ])
  })
})
