import { describe, expect, it } from 'vitest'
import type { Call, CallOutcome } from '../../core/call.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { Part, Turn, TurnProgress } from '../../core/message.ts'
import { englishStrings } from '../english-strings.ts'
import { durationOf, summarizeTurn } from './turn-summary.ts'

const base = {
  type: 'call',
  providerCallId: 'p',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 0,
} as const
const good: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: 1 } }
const bad: CallOutcome = { state: 'failed', cause: 'tool-error', error: 'no' }

const ended = (name: string, outcome: CallOutcome): Call => ({
  ...base,
  id: parseCallId(name),
  name,
  startedAt: 100,
  endedAt: 1_500,
  ...outcome,
})
const open = (name: string, state: 'awaiting-approval' | 'ready'): Call => ({
  ...base,
  id: parseCallId(name),
  name,
  state,
})

const over: TurnProgress = { status: 'ended', ending: { kind: 'completed' }, endedAt: 2_000 }
const running: TurnProgress = { status: 'running' }

function summaryOf(progress: TurnProgress, ...parts: readonly Part[]) {
  const turn: Turn = {
    role: 'assistant',
    id: parseMessageId('m'),
    seq: 1,
    lastSeq: 2,
    replyTo: null,
    createdAt: 0,
    progress,
    steps: [{ index: 0, status: 'open', parts, startedAt: 0 }],
    unreadable: 0,
  }
  const summary = summarizeTurn(turn, englishStrings)
  return summary === null ? null : `${summary.look}: ${summary.text}`
}

describe('the line of the widget', () => {
  it('[CO4] has a duration only where it is known when the calls ran', () => {
    const { startedAt: _, ...rest } = ended('b', good)
    const old = rest as Call
    expect(durationOf([ended('a', good)])).toBe(1_400)
    expect(durationOf([ended('a', good), old])).toBe(1_400)
    expect(durationOf([old])).toBeNull()
    expect(durationOf([ended('a', good), open('c', 'ready')])).toBeNull()
    expect(durationOf([])).toBeNull()
  })

  it('[CO3] shows what is happening, and how it ended', () => {
    expect(summaryOf(running)).toBe('thinking: Thinking…')
    expect(summaryOf(over)).toBeNull()
    expect(summaryOf(running, open('search_notes', 'ready'))).toBe('working: Search notes…')
    expect(summaryOf(over, ended('a', good))).toBe('done: Used 1 tool')
    expect(summaryOf(over, ended('a', good), ended('b', good))).toBe('done: Used 2 tools')
  })

  it('[CO3] thinks as long as there is nothing to show for it: before the first word, and after a tool until the next', () => {
    const text: Part = { type: 'text', block: 'b', text: 'It is', state: 'streaming' }
    expect(summaryOf(running, ended('a', good))).toBe('thinking: Thinking…')
    expect(summaryOf(running, ended('a', good), text)).toBe('done: Used 1 tool')
    expect(summaryOf(running, text)).toBeNull()
    expect(summaryOf(running, { ...text, text: ' ' })).toBe('thinking: Thinking…')
  })

  it('[CO3] says without a warning that a person stopped it', () => {
    expect(summaryOf(over, ended('a', { state: 'stopped', cause: 'stopped' }))).toBe(
      'stopped: Stopped',
    )
  })

  it('[CO3] warns where a call failed or is unknown', () => {
    expect(summaryOf(over, ended('a', good), ended('b', bad))).toBe('warning: 1 of 2 failed')
    const unknown = ended('a', { state: 'unknown', cause: 'crashed' })
    const waiting = { status: 'waiting', waitingFor: 'resolution' } as const
    expect(summaryOf(waiting, unknown)).toBe('unknown: Outcome unknown')
    const skipped = { ...unknown, resolution: { kind: 'skip', by: 'me', at: 1 } } as const
    expect(summaryOf(over, skipped)).toBe('warning: Outcome unknown')
  })

  it('[CO3] does not count as used what a person declined', () => {
    const denied = ended('b', { state: 'denied', cause: 'denied' })
    expect(summaryOf(over, ended('a', good), denied)).toBe('done: Used 1 tool')
    expect(summaryOf(over, denied)).toBe('declined: Declined')
  })

  it('[CO3] shows that it waits for a person', () => {
    const waiting = { status: 'waiting', waitingFor: 'approval' } as const
    expect(summaryOf(waiting, open('a', 'awaiting-approval'))).toBe('waiting: Waiting for you')
  })
})
