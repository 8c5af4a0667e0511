import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import type { Call } from '../../core/call.ts'
import { parseCallId, parseMessageId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { englishStrings } from '../english-strings.ts'
import { toTurn } from '../use-chat-adapter.ts'
import { InlineToolWidget } from './inline-tool-widget.tsx'

const running = (id: string, preliminary?: Json): Call => ({
  type: 'call',
  id: parseCallId(id),
  providerCallId: id,
  name: id,
  step: 0,
  input: { kind: 'complete', value: {} },
  approval: 'not-required',
  createdAt: 0,
  state: 'running',
  startedAt: 0,
  ...(preliminary === undefined ? {} : { preliminary }),
})

const turnOf = (...calls: readonly Call[]): Turn => ({
  role: 'assistant',
  id: parseMessageId('m'),
  seq: 1,
  lastSeq: 2,
  replyTo: null,
  createdAt: 0,
  progress: { status: 'running' },
  steps: [{ index: 0, status: 'open', startedAt: 0, parts: calls }],
  unreadable: 0,
})

const draw = (turn: Turn): string => renderToStaticMarkup(<InlineToolWidget turn={turn} />)
const seen = (html: string): string =>
  html
    .replaceAll(/<span class="hf-visually-hidden".*?<\/span>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

describe('the closed widget while a tool runs', () => {
  it.each<[Json | undefined, string]>([
    [undefined, 'Read pages…'],
    ['Looking around', 'Read pages… Looking around'],
    [{ progress: 3, total: 12 }, 'Read pages… 3 of 12'],
    [{ progress: 0.256, total: 1 }, 'Read pages… 25 %'],
    [{ message: 'Page 7', progress: 7 }, 'Read pages… Page 7 7'],
  ])('[CO6] says how far it is: %j', (preliminary, words) => {
    expect(seen(draw(turnOf(running('read_pages', preliminary))))).toBe(words)
  })

  it('[CO6] shows the call that reports progress, of several that run', () => {
    const turn = turnOf(running('read_pages', { progress: 1, total: 2 }), running('wait_a_bit'))
    expect(seen(draw(turn))).toBe('Read pages… 1 of 2')
  })

  it('[CO6] has a bar as long as the part that is done, and none without a total', () => {
    expect(draw(turnOf(running('a', { progress: 1, total: 8 })))).toContain('inline-size:12.5%')
    expect(draw(turnOf(running('a', { progress: 1 })))).not.toContain('hf-progress-bar')
  })

  it('[CO6] announces to screen readers in an element of its own, and hides the visible text from them', () => {
    const html = draw(turnOf(running('a', 'Looking')))
    expect(html).toContain('<span class="hf-visually-hidden" aria-live="polite">Looking</span>')
    expect(html).toMatch(/hf-progress-words"[^>]*aria-hidden="true"/)
  })

  it('[CO6] does so with a message of useChat, too', () => {
    const part = {
      type: 'tool-read_pages',
      toolCallId: 'c1',
      input: {},
      state: 'output-available',
      preliminary: true,
      output: { progress: 3, total: 12 },
    }
    const turn = toTurn({ id: 'm', role: 'assistant', parts: [part] }, true)
    expect(turn === null ? '' : seen(draw(turn))).toBe('Read pages… 3 of 12')
  })

  it('[CO6] shows the running time in seconds, minutes and hours', () => {
    const { runningFor } = englishStrings
    expect([1_999, 59_000, 61_500, 3_600_000, 7_260_000].map(runningFor)).toEqual([
      '1 s',
      '59 s',
      '1 min 1 s',
      '1 h 0 min',
      '2 h 1 min',
    ])
  })
})
