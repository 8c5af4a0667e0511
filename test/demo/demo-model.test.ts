import { generateText } from 'ai'
import { systemClock } from 'holdfast'
import { demoModel } from 'holdfast/demo'
import { describe, expect, it } from 'vitest'
import { type DemoPrompt, endingOf, openDemo, streamOf, textsIn } from './demo-chat.ts'

const user = (text: string): DemoPrompt[number] => ({
  role: 'user',
  content: [{ type: 'text', text }],
})

describe('the demo model', () => {
  it('streams the same for the same message and history, however often it was asked', async () => {
    const asked = demoModel({ delayMs: 0 })
    const prompts = ['time in Oslo and weather there', 'hello', 'cut off', 'provider error']
    for (const text of prompts) {
      const first = await streamOf(asked, [user(text)])
      expect(await streamOf(asked, [user(text)])).toEqual(first)
      expect(await streamOf(demoModel({ delayMs: 0 }), [user(text)])).toEqual(first)
    }
  })

  it('[FK6] writes the arguments of a note word by word, and the same again', async () => {
    const prompt = [user('write a note about green tea')]
    const parts = (await streamOf(demoModel({ delayMs: 0 }), prompt)) as { delta?: string }[]
    const deltas = parts.flatMap(({ delta }) => delta ?? [])
    expect(deltas.length).toBeGreaterThan(50)
    expect(JSON.parse(deltas.join(''))).toMatchObject({ title: 'Green tea' })
    expect(await streamOf(demoModel({ delayMs: 0 }), prompt)).toEqual(parts)
    const turn = await (await openDemo()).runTurn('write a note about ../../etc: tea?')
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    expect(textsIn(turn).join('')).toContain('I wrote the note “Etc tea”.')
  })

  it('gives each call of a conversation an id of its own', async () => {
    const called: DemoPrompt = [
      user('weather in Oslo'),
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'demo_call_1', toolName: 'get_weather', input: {} },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'demo_call_1',
            toolName: 'get_weather',
            output: { type: 'json', value: {} },
          },
        ],
      },
    ]
    const parts = await streamOf(demoModel({ delayMs: 0 }), [...called, user('stock ACME')])
    expect(parts).toContainEqual({
      type: 'tool-call',
      toolCallId: 'demo_call_2',
      toolName: 'get_stock',
      input: '{"ticker":"ACME"}',
    })
  })

  it('makes two equal conversations of equal messages', async () => {
    const converse = async () => {
      let ids = 0
      const fixture = await openDemo({
        newId: (kind) => `${kind}-${++ids}`,
        clock: { ...systemClock, now: () => 1 },
      })
      for (const text of ['weather in Rome', 'search my notes for milk', 'fail tool', 'bye']) {
        await fixture.runTurn(text)
      }
      return fixture.messages()
    }
    const first = await converse()
    expect(first).toHaveLength(8)
    expect(withoutSeq(await converse())).toEqual(withoutSeq(first))
  })

  it('counts tokens', async () => {
    const turn = await (await openDemo()).runTurn('hello')
    const [step] = turn.steps
    expect(step).toMatchObject({ model: 'demo', finishReason: 'stop' })
    const usage = step?.status === 'ended' ? step.usage : undefined
    expect(usage?.totalTokens).toBeGreaterThan(50)
  })

  it('[ST1] can be stopped in a long answer and goes on where it was', async () => {
    const fixture = await openDemo({ model: demoModel({ delayMs: 1 }) })
    await fixture.send('write a long answer')
    await fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && textsIn(turn).join('').length > 40
    })
    await fixture.holdfast.stop(fixture.threadId)
    const stopped = textsIn(await fixture.last()).join('')
    expect(stopped.endsWith('That was the long answer.')).toBe(false)
    await fixture.holdfast.continue(fixture.threadId)
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect(endingOf(turn)).toEqual({ kind: 'completed' })
    const whole = await (await openDemo()).runTurn('write a long answer')
    expect(textsIn(turn).join('')).toBe(textsIn(whole).join(''))
  })

  it('answers without streaming too', async () => {
    const { text } = await generateText({ model: demoModel(), prompt: 'hello' })
    expect(text).toContain('You said: “hello”.')
    await expect(
      generateText({ model: demoModel(), prompt: 'provider error', maxRetries: 0 }),
    ).rejects.toThrow('The demo provider failed')
  })
})

/** Where text was cut into commits depends on the clock of the machine. */
const withoutSeq = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (/^(seq|lastSeq)$/.test(key) ? 0 : inner)),
  )
