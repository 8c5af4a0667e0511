import { describe, expect, test } from 'vitest'
import type { Call, CallOutcome, EndedCall } from '../core/call.ts'
import { parseCallId } from '../core/ids.ts'
import {
  errorTextOf,
  formerErrorTexts,
  interruptionCauses,
  supersedings,
  modelTextOf,
  type UnsuccessfulCall,
} from './call-error-text.ts'

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

const byRule = {
  kind: 'rejected',
  by: 'policy',
  at: 1,
  inputHash: '',
  automatic: true,
} as const

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
    ended({ state: 'failed', cause: 'tool-error', error: ' ' }),
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
    ended({ state: 'denied', cause: 'superseded' }, { approval: 'required' }),
    'Not run: you wrote again first.',
    `The user wrote a new message instead of approving this call. ${didNotRun} ${unlessAsked}`,
  ],
  [
    'superseded by a new answer',
    ended(
      { state: 'denied', cause: 'superseded', supersededBy: 'regenerate' },
      { approval: 'required' },
    ),
    'Not run: the answer was made anew first.',
    `The user had the answer made anew instead of approving this call. ${didNotRun} ${unlessAsked}`,
  ],
  [
    'superseded by another version',
    ended({ state: 'denied', cause: 'superseded', supersededBy: 'show' }, { approval: 'required' }),
    'Not run: another version was shown first.',
    `The user went to another version of the conversation instead of approving this call. ${didNotRun} ${unlessAsked}`,
  ],
  [
    'interrupted by an import',
    ended({ state: 'interrupted', cause: 'superseded', supersededBy: 'import' }),
    'Not run: it was imported before anybody decided.',
    `This call was broken off: the conversation was imported before anybody decided. ${didNotRun}`,
  ],
  [
    'interrupted by another version',
    ended({ state: 'interrupted', cause: 'superseded', supersededBy: 'show' }),
    'No result: another version was shown.',
    `This call was broken off: the user went to another version of the conversation. ${mayHaveRun}`,
  ],
  [
    'denied by a rule',
    ended({ state: 'denied', cause: 'denied', feedback: 'Over budget.' }, { decision: byRule }),
    'Declined: Over budget.',
    `A rule of this application does not allow this call; the user was not asked. ${didNotRun} Do not try it again. The reason: Over budget.`,
  ],
  [
    'without a result in a turn that is complete',
    ended({ state: 'interrupted', cause: 'no-result' }, { providerExecuted: true }),
    'No result: none came.',
    `No result of this call came. ${mayHaveRun}`,
  ],
  [
    'its provider’s, and stopped',
    ended({ state: 'stopped', cause: 'stopped' }, { providerExecuted: true }),
    'Stopped before it ran.',
    `The user stopped this call. ${mayHaveRun}`,
  ],
  [
    'failed with what an object is as a string',
    ended({ state: 'failed', cause: 'timeout', error: '[object Object]' }),
    'The tool took too long.',
    'The tool took too long.',
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
    'No result: you wrote again.',
    `This call was broken off: the user wrote a new message. ${mayHaveRun}`,
  ],
  [
    'unknown',
    ended({ state: 'unknown', cause: 'crashed' }, { startedAt: 1 }),
    'The outcome is unknown: it was running when the work was broken off.',
    `This call was running when the work was broken off, so its outcome is unknown. ${mayHaveRun} ${unlessAsked}`,
  ],
  [
    'unknown and skipped',
    ended(
      { state: 'unknown', cause: 'crashed' },
      { startedAt: 1, resolution: { kind: 'skip', by: 'ana', at: 2 } },
    ),
    'The outcome is unknown, and it was skipped.',
    `This call was running when the work was broken off, so its outcome is unknown. ${mayHaveRun} The user chose to go on all the same. ${unlessAsked}`,
  ],
]

/**
 * Every state with every cause it can have, started or not, with and without approval, with and without a
 * message.
 */
const everyEnd = (): readonly UnsuccessfulCall[] => {
  const words = ['', ' ', '[object Object]', 'undefined', 'null', 'It broke.']
  const failures = ['tool-error', 'invalid-input', 'unknown-tool', 'timeout'] as const
  const outcomes: readonly Exclude<CallOutcome, { state: 'succeeded' }>[] = [
    ...failures.flatMap((cause) =>
      words.map((error) => ({ state: 'failed', cause, error }) as const),
    ),
    ...(['denied', 'superseded'] as const).flatMap((cause) =>
      words.map((feedback) => ({ state: 'denied', cause, feedback }) as const),
    ),
    { state: 'denied', cause: 'denied' },
    { state: 'stopped', cause: 'stopped' },
    ...interruptionCauses.map((cause) => ({ state: 'interrupted', cause }) as const),
    ...supersedings.flatMap((supersededBy) => [
      { state: 'denied', cause: 'superseded', supersededBy } as const,
      { state: 'interrupted', cause: 'superseded', supersededBy } as const,
    ]),
    { state: 'interrupted', cause: 'superseded', supersededBy: 'import' },
    { state: 'unknown', cause: 'crashed' },
  ]
  const circumstances: readonly Partial<EndedCall>[] = [
    {},
    { startedAt: 1 },
    { providerExecuted: true },
    { approval: 'required' },
    { approval: 'required', decision: byRule },
    { resolution: { kind: 'skip', by: 'ana', at: 2 } },
  ]
  return outcomes.flatMap((outcome) => circumstances.map((more) => ended(outcome, more)))
}

describe('the wording of a call', () => {
  test('[ST3a] has a sentence for every state and cause, and none shows a value that is no word', () => {
    for (const call of everyEnd()) {
      for (const text of [errorTextOf(call), modelTextOf(call)]) {
        expect(text.trim()).toBe(text)
        expect(text).toMatch(/^[A-Z].*[.]$/)
        expect(text).not.toMatch(/\[object|undefined|\bnull\b|NaN/)
      }
    }
  })

  test('[ST3a] names a cause only where there is one', () => {
    const callsWith = (text: RegExp) =>
      everyEnd().filter((call) => text.test(`${errorTextOf(call)} ${modelTextOf(call)}`))
    expect(new Set(callsWith(/server stopped/).map(({ cause }) => cause))).toEqual(
      new Set(['crashed']),
    )
    expect(new Set(callsWith(/limit/).map(({ cause }) => cause))).toEqual(new Set(['over-limit']))
    expect(new Set(callsWith(/wr(o|i)te/).map(({ cause }) => cause))).toEqual(
      new Set(['superseded']),
    )
    expect(callsWith(/wr(o|i)te/).some((call) => 'supersededBy' in call)).toBe(false)
    expect(callsWith(/instead of approving/).every(({ approval }) => approval === 'required')).toBe(
      true,
    )
    expect(callsWith(/user declined/).some(({ decision }) => decision?.automatic === true)).toBe(
      false,
    )
    const claims = callsWith(/did not run/)
    expect(
      claims.some((call) => call.startedAt !== undefined || call.providerExecuted === true),
    ).toBe(false)
    expect(
      new Set(callsWith(/the user was not asked/).map(({ decision }) => decision?.automatic)),
    ).toEqual(new Set([true]))
  })

  test('[ST3a] of earlier versions is known, and is none of today’s', () => {
    const today = new Set(everyEnd().map(errorTextOf))
    for (const [former, now] of formerErrorTexts) {
      expect([today.has(former), today.has(now)]).toEqual([false, true])
    }
  })

  test.each(cases)('[ST3] that is %s', (_, call, people, model) => {
    expect([errorTextOf(call), modelTextOf(call)]).toEqual([people, model])
  })

  test('[ST3] that is still open has the sentence that it has no result', () => {
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

test('[OP7 CL9] a reason of white space and a word takes linear time to read', () => {
  const error = `${' '.repeat(1_000_000)}x`
  expect(errorTextOf(ended({ state: 'failed', cause: 'tool-error', error }))).toContain('x')
})
