import { describe, expect, it } from 'vitest'
import type { CallInput } from '../core/call.ts'
import type { TurnEventBody } from '../core/event.ts'
import type { Turn } from '../core/message.ts'
import { announced, begin, callId } from '../../test/support/call-events.ts'
import { parseCallId } from '../core/ids.ts'
import { turnOf } from '../../test/support/turn-of.ts'
import { projectArguments } from './call-arguments.ts'
import { projectChatMessage } from './chat-message.ts'
import { projectEntityRows } from './entity-rows.ts'
import { projectPrompt } from './model-prompt.ts'
import { projectToolCalls } from './tool-call-record.ts'
import { projectUiMessage } from './ui-message.ts'
import { projectVercelMessage } from './vercel-message.ts'

const most = 65_536
const wide = `{${Array.from({ length: 100_000 }, (_, key) => `"q${key}":1`).join(',')}}`

/** A call whose arguments never became complete, as a model that is cut off leaves it. */
const turnWith = (...deltas: readonly string[]): Turn =>
  turnOf(
    begin,
    announced,
    ...deltas.map((delta): TurnEventBody => ({ type: 'call-input-appended', callId, delta })),
    { type: 'step-ended', finishReason: 'length' },
    {
      type: 'call-settled',
      callId,
      outcome: { state: 'interrupted', cause: 'no-result' },
    },
    { type: 'turn-ended', ending: { kind: 'cut-off' } },
  )

describe('arguments that were cut off, of more characters than are shown', () => {
  const long = turnWith(wide.slice(0, 40_000), wide.slice(40_000))
  /** The same call, had nothing arrived after what is shown. */
  const short = turnWith(wide.slice(0, most))

  it('[OP7 CL6b] are shown in every view as if their beginning were all of them', () => {
    expect(projectUiMessage(long)).toEqual(projectUiMessage(short))
    expect(projectVercelMessage(long)).toEqual(projectVercelMessage(short))
    expect(projectEntityRows(long)).toEqual(projectEntityRows(short))
    expect(projectChatMessage(long)).toEqual(projectChatMessage(short))
    const all = { include: 'all' } as const
    expect(projectToolCalls(long, 't', all)).toEqual(projectToolCalls(short, 't', all))
    expect(projectPrompt([long])).toEqual(projectPrompt([short]))
    expect(JSON.stringify(projectUiMessage(short))).toContain('"q1":1')
  })

  it('[OP7 CL6b] are whole in an export', () => {
    const [, call] = projectUiMessage(long, { keys: 'all' })?.parts ?? []
    expect(call).toMatchObject({ rawInput: wide })
  })

  it('[OP7 CL6b] take no more together than some calls may, in one step or in many', () => {
    const announce = (nth: number): TurnEventBody[] => {
      const id = parseCallId(`c${nth}`)
      const call = { id, providerCallId: id, name: 'weather' }
      return [
        { type: 'call-announced', callId: id, call },
        { type: 'call-input-appended', callId: id, delta: wide },
        {
          type: 'call-settled',
          callId: id,
          outcome: { state: 'interrupted', cause: 'stream-failed' },
        },
      ]
    }
    const nths = Array.from({ length: 100 }, (_, nth) => nth)
    const over = { type: 'step-ended', finishReason: 'tool-calls' } as const
    for (const turn of [
      turnOf(begin, ...nths.flatMap(announce)),
      turnOf(
        ...nths.flatMap((step): TurnEventBody[] => [
          { type: 'step-started', step },
          ...announce(step),
          over,
        ]),
      ),
    ]) {
      const all = { include: 'all' } as const
      for (const shown of [
        projectUiMessage(turn),
        projectVercelMessage(turn),
        projectEntityRows(turn),
        projectToolCalls(turn, 't', all),
        projectPrompt([turn]),
      ]) {
        const text = JSON.stringify(shown)
        expect(text).toContain('"q20":1')
        expect(text.match(/"q20":1/g)?.length).toBe(100)
        expect(text.length).toBeLessThan(8 * 2.5 * most + 100 * 2_000)
      }
      const exported = projectUiMessage(turn, { keys: 'all' })?.parts ?? []
      expect(exported.filter((part) => 'rawInput' in part && part.rawInput === wide)).toHaveLength(
        100,
      )
    }
  })

  it('[FK6] are shown as long whatever stands before them that is no call', () => {
    const words = { type: 'text', block: '1', text: 'x', state: 'done' } as const
    const turn = turnWith(wide)
    const [step] = turn.steps
    const texts = Array.from({ length: 20 }, () => words)
    const after: Turn = { ...turn, steps: [{ ...step!, parts: [...texts, ...step!.parts] }] }
    const text = JSON.stringify(projectUiMessage(after))
    expect(text.length).toBeGreaterThan(most)
  })

  it('[OP7] that are no JSON are shown as their beginning', () => {
    const text = `Sorry, ${'x'.repeat(100_000)}`
    expect(projectArguments({ kind: 'partial', text })).toBe(text.slice(0, most))
    const pair = `${'x'.repeat(most - 1)}😀`
    const shown = projectArguments({ kind: 'partial', text: pair })
    expect(shown).toBe(`${'x'.repeat(most - 1)}\ufffd`)
  })

  it('[OP7] are parsed once, however many read them', () => {
    const input: CallInput = { kind: 'partial', text: wide }
    expect(projectArguments(input)).toBe(projectArguments(input))
    const input1 = inputIn(projectUiMessage(long))
    expect(input1).toBeTypeOf('object')
    expect(inputIn(projectUiMessage(long))).toBe(input1)
  })
})

const inputIn = (message: ReturnType<typeof projectUiMessage>): unknown =>
  message?.parts.flatMap((part) => ('input' in part ? [part.input] : []))[0]
