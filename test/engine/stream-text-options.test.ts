import { hasToolCall, isStepCount, type LanguageModel, Output, tool } from 'ai'
import type { HoldfastOptions } from 'holdfast'
import { scriptedModel, type ScriptPart } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Script, textOf } from './fixture.ts'

type Model = Extract<LanguageModel, { readonly specificationVersion: 'v4' }>
type Sent = Parameters<Model['doStream']>[0]

const look = tool({ inputSchema: z.object({ at: z.string() }), execute: ({ at }) => `saw ${at}` })
const tools = { look, blink: look, wink: look }
const call = (name: string): ScriptPart => ({ call: name, input: { at: 'it' } })
const forever: Script = () => [call('look')]

async function open(script: Script, options: Partial<HoldfastOptions> = {}) {
  const sent: Sent[] = []
  const inner = scriptedModel(script) as Model
  const model: Model = {
    ...inner,
    doStream: (request) => {
      sent.push(request)
      return inner.doStream(request)
    },
  }
  const fixture = await createFixture(script, { model, tools, ...options })
  return { ...fixture, sent }
}
const endingOf = (turn: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['runTurn']>>) =>
  turn.progress.status === 'ended' ? turn.progress.ending.kind : turn.progress.status
const namesIn = ({ tools: offered = [] }: Sent) => offered.map(({ name }) => name)

describe('what people write for streamText', () => {
  it('[AG4] stopWhen ends the turn behind the step that a condition names', async () => {
    const counted = await open(forever, { stopWhen: isStepCount(3) })
    const turn = await counted.runTurn('go')
    expect([endingOf(turn), turn.steps.length]).toEqual(['step-limit', 3])
    const script: Script = ({ index }) => [call(index === 1 ? 'wink' : 'look')]
    const named = await open(script, { stopWhen: [isStepCount(9), hasToolCall('wink')] })
    expect((await named.runTurn('go')).steps).toHaveLength(2)
  })

  it('[AG4] stopWhen is asked with what the steps said, called and got, and counts anew when a person continues', async () => {
    const seen: unknown[] = []
    const fixture = await open(({ index }) => [{ text: `step ${index}` }, call('look')], {
      stopWhen: ({ steps }) => {
        const step = steps.at(-1)
        seen.push([
          steps.length,
          step?.text,
          step?.toolCalls[0]?.toolName,
          step?.toolResults[0]?.output,
        ])
        return steps.length === 2
      },
    })
    const { runTurn, holdfast, threadId } = fixture
    await runTurn('go')
    expect(seen).toEqual([
      [1, 'step 0', 'look', 'saw it'],
      [2, 'step 1', 'look', 'saw it'],
    ])
    await holdfast.continue(threadId)
    await holdfast.settled()
    expect((await fixture.last()).steps).toHaveLength(4)
  })

  it('[AG4] a condition that throws fails the turn', async () => {
    const stopWhen = () => {
      throw new Error('No.')
    }
    const { runTurn } = await open(forever, { stopWhen })
    expect(endingOf(await runTurn('go'))).toBe('failed')
  })

  it('[AG4] prepareStep says what a step is sent: its settings for that step, its instructions from there on', async () => {
    const seen: unknown[] = []
    const script: Script = ({ index }) => (index === 0 ? [call('look')] : [{ text: 'Done.' }])
    const { runTurn, sent } = await open(script, {
      instructions: 'Be kind.',
      temperature: 0.5,
      prepareStep: ({ stepNumber, steps, messages }) => {
        seen.push([stepNumber, steps.length, messages.length])
        return stepNumber === 0
          ? { activeTools: ['look'], toolChoice: 'required', temperature: 1, instructions: 'Look.' }
          : undefined
      },
    })
    await runTurn('go')
    expect(seen).toEqual([
      [0, 0, 1],
      [1, 1, 3],
    ])
    expect(sent.map(namesIn)).toEqual([['look'], ['look', 'blink', 'wink']])
    expect(sent.map(({ temperature }) => temperature)).toEqual([1, 0.5])
    expect(sent.map(({ toolChoice }) => toolChoice?.type)).toEqual(['required', 'auto'])
    expect(sent.map(({ prompt }) => prompt[0]?.content)).toEqual(['Look.', 'Look.'])
  })

  it('[AG4] prepareStep may give another model and other messages, once for a step that is tried again', async () => {
    let asked = 0
    const other = scriptedModel(({ index }) =>
      index === 0
        ? [{ fails: Object.assign(new Error('Busy.'), { statusCode: 503 }) }]
        : [{ text: 'Other.' }],
    )
    const { runTurn, sent } = await open(() => [{ text: 'First.' }], {
      retryDelayMs: 1,
      prepareStep: () => {
        asked++
        return { model: other, messages: [{ role: 'user', content: 'short' }] }
      },
    })
    expect(textOf(await runTurn('go'))).toEqual(['Other.'])
    expect([asked, sent.length]).toEqual([1, 0])
  })

  it('[AG4] activeTools are all that is offered, and toolOrder is their order', async () => {
    const { runTurn, sent } = await open(
      ({ index }) => (index === 0 ? [call('blink')] : [{ text: 'Done.' }]),
      { activeTools: ['wink', 'look'], toolOrder: ['wink'] },
    )
    const turn = await runTurn('go')
    expect(sent.map(namesIn)).toEqual([
      ['wink', 'look'],
      ['wink', 'look'],
    ])
    const [part] = turn.steps[0]?.parts ?? []
    expect(part).toMatchObject({ name: 'blink', state: 'failed' })
  })

  it('[AG4] repairToolCall mends a call before it is stored, under its older name too', async () => {
    const script: Script = ({ index }) =>
      index === 0 ? [{ call: 'look', input: { wrong: 1 } }] : [{ text: 'Done.' }]
    for (const name of ['repairToolCall', 'experimental_repairToolCall'] as const) {
      const { runTurn } = await open(script, {
        [name]: ({ toolCall }: { readonly toolCall: object }) => ({
          ...toolCall,
          input: '{"at":"mended"}',
        }),
      })
      const [part] = (await runTurn('go')).steps[0]?.parts ?? []
      expect(part).toMatchObject({ state: 'succeeded', output: { value: 'saw mended' } })
    }
  })

  it('[AG4] output asks the model for the form of its answer', async () => {
    const { runTurn, sent } = await open(() => [{ text: '{"n":1}' }], {
      output: Output.object({ schema: z.object({ n: z.number() }) }),
    })
    expect(textOf(await runTurn('go'))).toEqual(['{"n":1}'])
    expect(sent[0]?.responseFormat).toMatchObject({ type: 'json', schema: { type: 'object' } })
  })

  it('[AG4] maxRetries is how often a model is tried again; modelRetries still is, with a warning', async () => {
    const fails = [{ fails: Object.assign(new Error('Busy.'), { statusCode: 503 }) }]
    const warnings: string[] = []
    const onWarning = ({ message }: Error) => warnings.push(message)
    process.on('warning', onWarning)
    for (const [options, calls] of [
      [{ maxRetries: 0 }, 1],
      [{ maxRetries: 1 }, 2],
      [{ modelRetries: 1 }, 2],
    ] as const) {
      const { runTurn, sent } = await open(() => fails, { retryDelayMs: 1, ...options })
      expect(endingOf(await runTurn('go'))).toBe('failed')
      expect(sent).toHaveLength(calls)
    }
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    process.off('warning', onWarning)
    expect(warnings.filter((text) => text.includes('maxRetries'))).toHaveLength(1)
  })

  it('[AG4] callbacks are called for steps and for the end, whatever they throw', async () => {
    const said: unknown[] = []
    const { runTurn } = await open(
      ({ index }) => (index === 0 ? [call('look')] : [{ text: 'Done.' }]),
      {
        onStepFinish: ({ stepNumber, toolResults }) => {
          said.push(['step', stepNumber, toolResults[0]?.output])
          throw new Error('Not heard.')
        },
        onStepEnd: async ({ stepNumber }) => void said.push(['end', stepNumber]),
        onFinish: ({ text, steps }) => void said.push(['finish', text, steps.length]),
        onError: () => void said.push('error'),
        onAbort: () => void said.push('abort'),
      },
    )
    expect(endingOf(await runTurn('go'))).toBe('completed')
    expect(said).toEqual([
      ['end', 0],
      ['step', 0, 'saw it'],
      ['end', 1],
      ['step', 1, undefined],
      ['finish', 'Done.', 2],
    ])
  })

  it('[AG4] callbacks are called for a failure and for a stop', async () => {
    const said: unknown[] = []
    const callbacks = {
      onFinish: () => void said.push('finish'),
      onError: ({ error }: { readonly error: unknown }) => void said.push(String(error)),
      onAbort: ({ steps }: { readonly steps: readonly unknown[] }) => void said.push(steps.length),
    }
    const failing = await open(() => [{ fails: new Error('No.') }], callbacks)
    await failing.runTurn('go')
    const slow = await open(() => [{ text: 'Well' }, { waitMs: 600_000 }], callbacks)
    await slow.send('go')
    await slow.until(({ messages }) => JSON.stringify(messages).includes('Well'))
    await slow.holdfast.stop(slow.threadId)
    await slow.holdfast.settled()
    expect(said).toEqual(['Error: No.', 1])
  })

  it('[AG4 CF1] names of tools that are not there are refused', async () => {
    await expect(open(forever, { activeTools: ['lok'] })).rejects.toThrow('Did you mean "look"?')
    await expect(open(forever, { toolOrder: ['nothing'] })).rejects.toThrow('toolOrder')
  })
})
