import type { CardRegistry, Json } from 'holdfast/widgets'
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
      expect(words).not.toContain('could not be drawn')
    })
  }

  it('[CD2] draw a tool that nobody knows as a generic card', () => {
    expect(toWords(draw(succeeded('strange_tool', {}, { answer: 42 })))).toContain('Strange tool')
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
