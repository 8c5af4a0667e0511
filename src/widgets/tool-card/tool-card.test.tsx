import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import type { Call, CallInput, CallOutcome } from '../../core/call.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { TurnCards } from '../message/turn-cards.tsx'
import { type CardEntry, type CardProps, CardProvider } from './card-registry.tsx'
import { ToolCard } from './tool-card.tsx'

const words = (element: ReactElement): string =>
  renderToStaticMarkup(element)
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll(/\s+/g, ' ')
    .trim()

function Shown({ input, isPartial, output }: CardProps): ReactElement {
  return <b>{JSON.stringify({ input, isPartial, output })}</b>
}
const growing: CardEntry = { component: Shown, drawsInput: true }

const base = {
  type: 'call',
  id: parseCallId('c'),
  providerCallId: 'c',
  name: 'write_note',
  step: 0,
  approval: 'not-required',
  createdAt: 0,
} as const
const partial = (text: string): CallInput => ({ kind: 'partial', text })
const whole: CallInput = { kind: 'complete', value: { title: 'Tea', text: 'Green.' } }
const streaming = (text: string): Call => ({ ...base, input: partial(text), state: 'streaming' })
const ended = (input: CallInput, outcome: CallOutcome): Call => ({
  ...base,
  input,
  startedAt: 1,
  endedAt: 2,
  ...outcome,
})

const draw = (call: Call, entry: CardEntry = growing): string =>
  words(
    <CardProvider cards={{ write_note: entry }}>
      <ToolCard call={call} />
    </CardProvider>,
  )
const props = (input: Json, isPartial: boolean, output: Json = null): string =>
  JSON.stringify({ input, isPartial, output })

describe('a card that draws its arguments', () => {
  it.each<[string, Json]>([
    ['', {}],
    ['{"ti', {}],
    ['{"title":"Tea","text":"Gre', { title: 'Tea', text: 'Gre' }],
    ['{"points":[1,2.5,3', { points: [1, 2.5] }],
    ['{"text":"half an escape \\', { text: 'half an escape ' }],
  ])('[FK6] has as much of them as is certain: %s', (text, input) => {
    expect(draw(streaming(text))).toBe(props(input, true))
  })

  it('[FK6] has the whole of them while the call waits and runs, and then its result', () => {
    const { value } = whole
    expect(draw({ ...base, input: whole, state: 'ready' })).toBe(props(value, false))
    expect(draw({ ...base, input: whole, state: 'running', startedAt: 1 })).toBe(
      props(value, false),
    )
    const running: Call = { ...base, input: whole, state: 'running', startedAt: 1, preliminary: 1 }
    expect(draw(running)).toBe(props(value, false, 1))
    const done: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: 2 } }
    expect(draw(ended(whole, done))).toBe(props(value, false, 2))
  })

  it('[FK6] keeps what was written when it is broken off, above the reason', () => {
    const stopped = draw(ended(partial('{"text":"Gre'), { state: 'stopped', cause: 'stopped' }))
    expect(stopped).toContain(props({ text: 'Gre' }, true))
    expect(stopped).toContain('Write note')
    const failed = draw(ended(whole, { state: 'failed', cause: 'tool-error', error: 'No paper.' }))
    expect(failed).toContain(props(whole.value, false))
    expect(failed).toContain('No paper.')
  })

  it('[FK6] gets null without a result: an old payload is upcast, null is not', () => {
    const entry: CardEntry = { ...growing, version: '1', upcasters: { '0': () => 'brought up' } }
    expect(draw(streaming('{}'), entry)).toBe(props({}, true))
    const done: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: null } }
    expect(draw(ended(whole, done), entry)).toContain('brought up')
  })

  it('[FK6] [CD3] is busy until the call is over', () => {
    const html = (call: Call) =>
      renderToStaticMarkup(
        <CardProvider cards={{ write_note: growing }}>
          <ToolCard call={call} />
        </CardProvider>,
      )
    expect(html(streaming('{'))).toContain('aria-busy="true"')
    expect(html(ended(whole, { state: 'stopped', cause: 'stopped' }))).not.toContain('aria-busy')
  })
})

describe('the cards of a turn', () => {
  const turnOf = (call: Call): Turn => ({
    role: 'assistant',
    id: parseMessageId('m'),
    seq: 1,
    lastSeq: 2,
    replyTo: null,
    createdAt: 0,
    progress: { status: 'running' },
    steps: [{ index: 0, status: 'open', startedAt: 0, parts: [call] }],
    unreadable: 0,
  })
  const drawTurn = (entry: CardEntry): string =>
    words(
      <CardProvider cards={{ write_note: entry }}>
        <TurnCards turn={turnOf(streaming('{"title":"T'))} isLast />
      </CardProvider>,
    )

  it('[FK6] has one whose arguments are coming only where it draws them', () => {
    expect(drawTurn(growing)).toBe(props({ title: 'T' }, true))
    expect(drawTurn({ component: Shown })).toBe('')
  })
})
