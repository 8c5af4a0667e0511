import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import type { Call, CallOutcome } from '../../core/call.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { Step, Turn } from '../../core/message.ts'
import { planTurnBars } from './turn-bars.ts'
import { TurnTimeline } from './turn-timeline.tsx'

const base = {
  type: 'call',
  providerCallId: 'p',
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 1_000,
} as const
const good: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: 1 } }
const bad: CallOutcome = { state: 'failed', cause: 'tool-error', error: 'no' }

const ended = (id: string, from: number, to: number, outcome: CallOutcome): Call => ({
  ...base,
  id: parseCallId(id),
  name: id,
  startedAt: from,
  endedAt: to,
  ...outcome,
})
const running = (id: string, from: number): Call => ({
  ...base,
  id: parseCallId(id),
  name: id,
  state: 'running',
  startedAt: from,
})

const turnOf = (...steps: readonly Step[]): Turn => ({
  role: 'assistant',
  id: parseMessageId('m'),
  seq: 1,
  lastSeq: 2,
  replyTo: null,
  createdAt: 1_000,
  progress: { status: 'running' },
  steps,
  unreadable: 0,
})

const first: Step = {
  index: 0,
  status: 'ended',
  finishReason: 'tool-calls',
  startedAt: 1_000,
  endedAt: 1_500,
  parts: [ended('read_note', 1_500, 2_000, good), ended('fail_tool', 1_500, 3_000, bad)],
}

const places = (turn: Turn) =>
  planTurnBars(turn).map(({ key, from, to, ms }) => `${key}: ${from}–${to}, ${ms} ms`)

describe('the timeline of a turn', () => {
  it('[CO5] has a bar for each step and call, in parts of the time that the turn took', () => {
    expect(places(turnOf(first))).toEqual([
      'step 0: 0–0.25, 500 ms',
      'read_note: 0.25–0.5, 500 ms',
      'fail_tool: 0.25–1, 1500 ms',
    ])
  })

  it('[CO5] extends what is still running to the end of what is known, without a duration', () => {
    const parts = [running('slow_tool', 4_000)]
    const second: Step = { index: 1, status: 'open', startedAt: 3_000, parts }
    expect(places(turnOf(first, second)).slice(-2)).toEqual([
      `step 1: ${2 / 3}–1, null ms`,
      'slow_tool: 1–1, null ms',
    ])
  })

  it('[CO5] has no width of its own when all happened at one moment', () => {
    const step: Step = { ...first, endedAt: 1_000, parts: [] }
    expect(places(turnOf(step))).toEqual(['step 0: 0–0, 0 ms'])
  })

  it('[CO5] labels each bar with its name, duration and failure, for screen readers too', () => {
    const html = renderToStaticMarkup(<TurnTimeline turn={turnOf(first)} />)
    const words = html.replaceAll(/<\/li>/g, '\n').replaceAll(/<[^>]*>/g, ' ')
    expect(words.split('\n').map((line) => line.trim().replaceAll(/\s+/g, ' '))).toEqual([
      'Step 1 500 ms',
      'Read note done 500 ms',
      'Fail tool failed 1.5 s',
      '',
    ])
    expect(html).toContain(
      'inset-inline-start:min(25.00%, 100% - 3px);inline-size:max(3px, 75.00%)',
    )
  })
})
