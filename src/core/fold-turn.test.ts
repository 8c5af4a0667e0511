import { describe, expect, it } from 'vitest'
import { randomLedger } from '../testing/random-ledger.ts'
import type { Call } from './call.ts'
import { isTurnEvent, type LedgerEvent, type TurnEvent, type TurnEventBody } from './event.ts'
import { emptyTurn, foldTurn } from './fold-turn.ts'
import type { CallId, MessageId } from './ids.ts'
import { callsOf, type Turn } from './message.ts'

const turnId = 'turn' as MessageId
const callId = 'call' as CallId
const origin = { id: callId, providerCallId: 'p1', name: 'weather' }

function fold(...bodies: readonly TurnEventBody[]): Turn {
  const events = bodies.map((body, index) => ({ ...body, turnId, seq: index + 1, at: 100 + index }))
  return foldTurn(emptyTurn(turnId, 1, 100), events)
}

const started = { type: 'turn-started', replyTo: 'u1' as MessageId } as const
const step = { type: 'step-started', step: 0, model: 'm' } as const
const recorded = {
  type: 'call-recorded',
  callId,
  call: origin,
  input: { city: 'Oslo' },
  approval: 'not-required',
} as const
const onlyCall = (turn: Turn): Call => [...callsOf(turn)][0] as Call

describe('a turn', () => {
  it('[LG4] folds text, reasoning and calls in the order they happened', () => {
    const turn = fold(
      started,
      step,
      { type: 'text-started', block: 'r', kind: 'reasoning' },
      { type: 'text-appended', block: 'r', delta: 'Think' },
      { type: 'text-started', block: 't', kind: 'text' },
      { type: 'text-appended', block: 't', delta: 'Look' },
      { type: 'text-appended', block: 'r', delta: 'ing' },
      { type: 'text-ended', block: 'r', providerMetadata: { x: { y: 1 } } },
      recorded,
      { type: 'step-ended', finishReason: 'tool-calls', usage: { inputTokens: 3 } },
    )
    expect(turn).toEqual({
      role: 'assistant',
      id: turnId,
      seq: 1,
      lastSeq: 10,
      replyTo: 'u1',
      createdAt: 100,
      progress: { status: 'running' },
      unreadable: 0,
      steps: [
        {
          index: 0,
          status: 'ended',
          startedAt: 101,
          endedAt: 109,
          model: 'm',
          finishReason: 'tool-calls',
          usage: { inputTokens: 3 },
          parts: [
            {
              type: 'reasoning',
              block: 'r',
              text: 'Thinking',
              state: 'done',
              providerMetadata: { x: { y: 1 } },
            },
            { type: 'text', block: 't', text: 'Look', state: 'done' },
            {
              ...origin,
              type: 'call',
              step: 0,
              createdAt: 108,
              input: { kind: 'complete', value: { city: 'Oslo' } },
              approval: 'not-required',
              state: 'ready',
            },
          ],
        },
      ],
    })
  })

  it('[CL2] closes whatever is open when it ends, each by how it ended', () => {
    const running = [started, step, recorded, { type: 'call-started', callId } as const] as const
    const ended = (kind: 'stopped' | 'completed') =>
      onlyCall(fold(...running, { type: 'turn-ended', ending: { kind } }))
    expect(ended('stopped')).toMatchObject({ state: 'stopped', cause: 'stopped' })
    expect(ended('completed')).toMatchObject({ state: 'unknown', cause: 'crashed' })
    const never = fold(started, step, recorded, {
      type: 'turn-ended',
      ending: { kind: 'failed', error: { code: 'x', message: 'y' } },
    })
    expect(onlyCall(never)).toMatchObject({ state: 'interrupted', cause: 'stream-failed' })
    expect(never.steps[0]).toMatchObject({ status: 'ended', finishReason: 'error' })
  })

  it('[CL2] lets the first end of a call stand', () => {
    const output = { kind: 'inline', value: 1 } as const
    const turn = fold(
      started,
      step,
      recorded,
      { type: 'call-settled', callId, outcome: { state: 'succeeded', output } },
      { type: 'call-settled', callId, outcome: { state: 'stopped', cause: 'stopped' } },
      { type: 'call-started', callId },
    )
    expect(onlyCall(turn)).toMatchObject({ state: 'succeeded', output })
    expect(turn.lastSeq).toBe(6)
  })

  it('[CL10] keeps progress only until the result comes', () => {
    const before = [
      started,
      step,
      recorded,
      { type: 'call-started', callId },
      { type: 'call-progressed', callId, output: { percent: 10 } },
    ] as const
    expect(onlyCall(fold(...before))).toMatchObject({ preliminary: { percent: 10 } })
    const output = { kind: 'inline', value: 'done' } as const
    const after = fold(...before, {
      type: 'call-settled',
      callId,
      outcome: { state: 'succeeded', output },
    })
    expect(onlyCall(after)).not.toHaveProperty('preliminary')
  })

  it('[AP3] keeps both what was proposed and what was accepted', () => {
    const decision = { kind: 'accepted', by: 'ann', at: 5, inputHash: 'h' } as const
    const turn = fold(
      started,
      step,
      { ...recorded, approval: 'required' },
      { type: 'call-decided', callId, decision, editedInput: { city: 'Bergen' } },
    )
    expect(onlyCall(turn)).toMatchObject({
      state: 'ready',
      input: { kind: 'complete', value: { city: 'Bergen' } },
      proposedInput: { city: 'Oslo' },
      decision,
    })
  })

  it('[CR3] resolves an unknown outcome by retry, done or skip', () => {
    const before = [
      started,
      step,
      recorded,
      { type: 'call-started', callId },
      { type: 'call-settled', callId, outcome: { state: 'unknown', cause: 'crashed' } },
    ] as const
    const resolved = (kind: 'retry' | 'done' | 'skip') =>
      onlyCall(
        fold(
          ...before,
          { type: 'call-resolved', callId, resolution: { kind, by: 'ann', at: 1 } },
          // A second resolution changes nothing, whatever its kind.
          { type: 'call-resolved', callId, resolution: { kind: 'done', by: 'bob', at: 2 } },
        ),
      )
    expect(resolved('retry')).toMatchObject({ state: 'ready', resolution: { by: 'ann' } })
    expect(resolved('done')).toMatchObject({ state: 'succeeded', resolution: { by: 'ann' } })
    expect(resolved('skip')).toMatchObject({ state: 'unknown', resolution: { kind: 'skip' } })
  })

  it('[LG7] counts what it cannot read and keeps the rest', () => {
    const turn = fold(started, step, { type: 'unreadable', reason: 'x' } as never, recorded)
    expect(turn.unreadable).toBe(1)
    expect(onlyCall(turn).state).toBe('ready')
  })
})

describe('the fold', () => {
  const turnsOf = (seed: number): Map<MessageId, TurnEvent[]> => {
    const turns = new Map<MessageId, TurnEvent[]>()
    for (const [index, event] of randomLedger(seed).entries()) {
      if (!isTurnEvent(event)) continue
      const numbered = { ...event, seq: index + 1 }
      turns.set(event.turnId, [...(turns.get(event.turnId) ?? []), numbered])
    }
    return turns
  }
  const start = (events: readonly LedgerEvent[]) => {
    const first = events[0] as TurnEvent
    return emptyTurn(first.turnId, first.seq, first.at)
  }

  it('[LG4] gives the same turn one event at a time, in any runs, or all at once', () => {
    let compared = 0
    for (let seed = 1; seed <= 150; seed++) {
      for (const events of turnsOf(seed).values()) {
        const atOnce = foldTurn(start(events), events)
        let oneByOne = start(events)
        for (const event of events) oneByOne = foldTurn(oneByOne, [event])
        expect(oneByOne).toEqual(atOnce)
        const cut = seed % events.length
        const inTwo = foldTurn(foldTurn(start(events), events.slice(0, cut)), events.slice(cut))
        expect(inTwo).toEqual(atOnce)
        compared++
      }
    }
    expect(compared).toBeGreaterThan(150)
  })

  it('[LG4] returns the same object when nothing is new, and shares what did not change', () => {
    for (let seed = 1; seed <= 50; seed++) {
      for (const events of turnsOf(seed).values()) {
        let turn = start(events)
        for (const event of events) {
          const next = foldTurn(turn, [event])
          expect(foldTurn(next, events)).toEqual(foldTurn(turn, events))
          expect(foldTurn(next, [event])).toBe(next)
          // Every step but the last touched one is the very same object.
          const shared = next.steps.filter((step, index) => step === turn.steps[index]).length
          const isCall = 'callId' in event || event.type === 'turn-ended'
          if (!isCall) expect(shared).toBeGreaterThanOrEqual(turn.steps.length - 1)
          turn = next
        }
      }
    }
  })

  it('[LG4] never changes a turn that it was given', () => {
    const freeze = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
      Object.freeze(value)
      for (const inner of Object.values(value)) freeze(inner)
    }
    for (let seed = 1; seed <= 50; seed++) {
      for (const events of turnsOf(seed).values()) {
        let turn = start(events)
        for (const event of events) {
          freeze(turn)
          turn = foldTurn(turn, [event])
        }
      }
    }
  })

  it('[CL2] leaves nothing open after the end, whatever was lost before it', () => {
    for (let seed = 1; seed <= 100; seed++) {
      for (const events of turnsOf(seed).values()) {
        const kept = events.filter((_, index) => (index * 7 + seed) % 5 !== 0)
        const last = events.at(-1) as TurnEvent
        const end = { type: 'turn-ended', turnId: last.turnId, at: 0, seq: last.seq + 1 } as const
        const turn = foldTurn(start(events), [...kept, { ...end, ending: { kind: 'completed' } }])
        for (const call of callsOf(turn)) {
          expect(['streaming', 'ready', 'running', 'awaiting-approval']).not.toContain(call.state)
        }
        expect(turn.steps.every((step) => step.status !== 'open')).toBe(true)
      }
    }
  })
})
