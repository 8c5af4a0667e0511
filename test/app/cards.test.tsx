import type { CardEntry, CardRegistry, Json } from 'holdfast/widgets'
import { CardProvider, ToolCard } from 'holdfast/widgets'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import oldPayloads from '../../app/web/cards/old-payloads.json' with { type: 'json' }
import { cards } from '../../app/web/cards/cards.ts'
import { parseCallId } from '../../src/core/ids.ts'
import type { Call, CallOutcome } from '../../src/core/call.ts'

describe('the cards', () => {
  for (const { tool, name, input, output, shows } of oldPayloads) {
    it(`[CD4] [CD5] draw old payloads: ${tool}, ${name}`, () => {
      const words = toWords(draw(succeeded(tool, input, output)))
      for (const each of shows) expect(words).toContain(each)
      expect(words).not.toContain('could not be displayed')
    })
  }

  it('[CD2] draw a tool that nobody knows as a generic card', () => {
    expect(toWords(draw(succeeded('strange_tool', {}, { answer: 42 })))).toContain('Strange tool')
  })

  it('[CD1] are found by each name of an entry, and first by the name of the tool itself', () => {
    const named = (text: string, ...names: readonly string[]): CardEntry => ({
      component: () => <b>{text}</b>,
      names,
    })
    const registry: CardRegistry = {
      stock: named('one', 'get_stock_data', 'weather', 'toString'),
      weather: named('two'),
    }
    const drawn = (name: string) => toWords(draw(succeeded(name, {}, {}), registry))
    expect(drawn('stock')).toContain('one')
    expect(drawn('get_stock_data')).toContain('one')
    expect(drawn('toString')).toContain('one')
    expect(drawn('weather')).toContain('two')
    expect(drawn('constructor')).toContain('Constructor')
  })

  it.each([
    ['with a language', 'artifact', { id: 'x', code: 'x = 1', language: 'python' }, 'python'],
    ['in a field of its own', 'code', { artifact: { kind: 'code', code: 'x = 1' } }, ''],
    ['of several lines', 'snippet', { code: 'x = 1\ny = 2', title: 'Two lines' }, 'Two lines'],
  ])('[CD2] draw an artifact as its code: %s', (_, tool, output, word) => {
    const words = toWords(draw(succeeded(tool, {}, output)))
    expect(words).toContain('x = 1')
    expect(words).toContain(word)
    expect(draw(succeeded(tool, {}, output))).toContain('hf-code')
  })

  it.each([{ code: 'E404', message: 'No such page' }, { code: 7, language: 'x' }, 'code', null])(
    '[CD2] take nothing else for code: %j',
    (output) => {
      expect(draw(succeeded('fetch_page', {}, output))).not.toContain('hf-code')
    },
  )

  it('[HT5] draw code as text, whatever is in it', () => {
    const output = { code: '<img src=x onerror=alert(1)>\n', language: '"><script>' }
    const html = draw(succeeded('artifact', {}, output))
    expect(html).not.toContain('<img')
    expect(html).not.toContain('<script')
  })

  it('[CD2] [CD3] show a failure as one', () => {
    const failed = callOf(
      'get_weather',
      {},
      { state: 'failed', cause: 'tool-error', error: 'No sky.' },
    )
    expect(toWords(draw(failed))).toContain('No sky.')
  })

  it('[CD3] show that they load', () => {
    const {
      endedAt: _,
      output: __,
      ...base
    } = succeeded('get_weather', {}, null) as Call & {
      readonly output: unknown
      readonly endedAt: number
    }
    const running = { ...base, state: 'running', startedAt: 1 } as Call
    expect(draw(running)).toContain('aria-busy="true"')
  })

  it('[CD4] bring a payload up one version at a time', () => {
    const registry: CardRegistry = {
      counter: {
        component: ({ output }) => <b>{JSON.stringify(output)}</b>,
        version: '2',
        upcasters: {
          '0': (old) => ({ version: '1', count: old }),
          '1': (old) => ({ ...(old as object), version: '2' }),
        },
      },
    }
    expect(toWords(draw(succeeded('counter', {}, 7), registry))).toContain(
      '{"version":"2","count":7}',
    )
  })
})

const draw = (call: Call, registry: CardRegistry = cards): string =>
  renderToStaticMarkup(
    <CardProvider cards={registry}>
      <ToolCard call={call} />
    </CardProvider>,
  )

const toWords = (html: string): string =>
  html
    .replaceAll(/aria-label="([^"]*)"/g, '>$1<')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')

const succeeded = (name: string, input: Json, output: Json): Call =>
  callOf(name, input, { state: 'succeeded', output: { kind: 'inline', value: output } })

const callOf = (name: string, input: Json, outcome: CallOutcome): Call => ({
  type: 'call',
  id: parseCallId('call-1'),
  providerCallId: 'call-1',
  name,
  step: 0,
  input: { kind: 'complete', value: input },
  approval: 'not-required',
  createdAt: 0,
  endedAt: 1,
  ...outcome,
})
