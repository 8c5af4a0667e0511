import { describe, expect, it } from 'vitest'
import type { Call, Decision } from '../core/call.ts'
import { parseCallId } from '../core/ids.ts'
import { chatStatusOf, isCallComplete, validatedOf } from './call-status.ts'

const base = {
  type: 'call',
  id: parseCallId('c'),
  providerCallId: 'c',
  name: 'delete_note',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 0,
} as const
const ended = { ...base, endedAt: 1 }
const accepted: Decision = { kind: 'accepted', by: 'ana', at: 1, inputHash: 'h' }

const calls: readonly Call[] = [
  { ...base, state: 'streaming' },
  { ...base, state: 'awaiting-approval', approval: 'required' },
  { ...base, state: 'ready' },
  { ...base, state: 'running', startedAt: 0 },
  { ...ended, state: 'succeeded', output: { kind: 'inline', value: null } },
  { ...ended, state: 'failed', cause: 'tool-error', error: 'no' },
  { ...ended, state: 'denied', cause: 'denied' },
  { ...ended, state: 'stopped', cause: 'stopped' },
  { ...ended, state: 'interrupted', cause: 'crashed' },
  { ...ended, state: 'unknown', cause: 'crashed' },
]

describe('the words of the formats', () => {
  it('[FD6] chat has four, and what is over is never pending or running', () => {
    expect(Object.fromEntries(calls.map((call) => [call.state, chatStatusOf(call)]))).toEqual({
      streaming: 'pending',
      'awaiting-approval': 'pending',
      ready: 'running',
      running: 'running',
      succeeded: 'completed',
      failed: 'error',
      denied: 'error',
      stopped: 'error',
      interrupted: 'error',
      unknown: 'error',
    })
  })

  it('[FD2] isComplete is false for what was broken off, and for nothing else', () => {
    expect(calls.filter((call) => !isCallComplete(call)).map((call) => call.state)).toEqual([
      'stopped',
      'interrupted',
      'unknown',
    ])
  })

  it('[FD4] validated is not_required without a request for approval', () => {
    const requested = ['awaiting-approval', 'denied']
    const rest = calls.filter((call) => !requested.includes(call.state))
    expect(new Set(rest.map(validatedOf))).toEqual(new Set(['not_required']))
  })

  it('[FD4] validated is what a person or a newer message decided', () => {
    const required = { ...ended, approval: 'required' } as const
    const words = (
      [
        { ...required, state: 'awaiting-approval' },
        { ...required, state: 'ready', decision: accepted },
        { ...required, state: 'stopped', cause: 'stopped', decision: accepted },
        {
          ...required,
          state: 'denied',
          cause: 'denied',
          decision: { ...accepted, kind: 'rejected' },
        },
        { ...required, state: 'denied', cause: 'superseded' },
        { ...required, state: 'denied', cause: 'superseded', decision: accepted },
      ] satisfies readonly Call[]
    ).map(validatedOf)
    expect(words).toEqual(['pending', 'accepted', 'accepted', 'rejected', 'rejected', 'rejected'])
  })

  it('[FD4] a policy that accepted is not a person who did', () => {
    const call: Call = { ...base, state: 'ready', decision: { ...accepted, automatic: true } }
    expect(validatedOf(call)).toBe('not_required')
  })

  it('[FD4] a call that waited and was broken off waits no more', () => {
    const call: Call = { ...ended, approval: 'required', state: 'interrupted', cause: 'crashed' }
    expect(validatedOf(call)).toBe('not_required')
  })
})
