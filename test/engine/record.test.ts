import { isStepCount, streamText, tool } from 'ai'
import { callsOf, type RecordedPart, type Turn } from 'holdfast'
import { type ScriptPart, scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, echo, messageId } from './fixture.ts'

/** What a host does that keeps its own `streamText`. */
function hostLoop(steps: readonly (readonly ScriptPart[])[]) {
  const boom = tool({
    inputSchema: z.object({}),
    execute: (): Promise<string> => Promise.reject(new Error('kaput')),
  })
  return streamText({
    model: scriptedModel(({ index }) => steps[index] ?? []),
    tools: { echo, boom },
    prompt: 'go',
    stopWhen: isStepCount(5),
    maxRetries: 0,
    onError: () => {},
  })
}

const message = (id: string) => ({
  id: messageId(id),
  parts: [{ type: 'text', text: 'go' }] as const,
})

async function recorded(steps: readonly (readonly ScriptPart[])[]) {
  const fixture = await createFixture(() => [])
  const { threadId } = fixture
  const result = hostLoop(steps)
  const recording = await fixture.holdfast.record(result.stream as AsyncIterable<RecordedPart>, {
    threadId,
    message: message('u1'),
  })
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  return { fixture, recording }
}

const call = { call: 'echo', input: { value: 'x' } } as const

describe('record', () => {
  it('[LG2] gives each part on only after it is stored, and stores the whole turn', async () => {
    const { fixture, recording } = await recorded([
      [{ text: 'Looking.' }, call, { call: 'boom', input: {} }, { call: 'nope', input: {} }],
      [{ text: 'Found it.' }],
    ])
    const types: string[] = []
    for await (const part of recording.stream) {
      types.push(part.type)
      if (part.type !== 'tool-result') continue
      const [shown] = callsOf(await fixture.last())
      expect(shown).toMatchObject({ state: 'succeeded' })
    }
    await recording.done
    const turn = await fixture.last()
    expect(types.at(0)).toBe('start')
    expect(types.at(-1)).toBe('finish')
    expect(turn.recorded).toBe(true)
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)]).toMatchObject([
      { state: 'succeeded', output: { value: 'x' } },
      { state: 'failed', cause: 'tool-error', modelError: 'kaput' },
      { state: 'failed', cause: 'unknown-tool' },
    ])
    expect(turn.steps.map(({ status }) => status)).toEqual(['ended', 'ended'])
  })

  it('[RS1] stores everything although nobody reads the stream', async () => {
    const { fixture, recording } = await recorded([[call], [{ text: 'done' }]])
    await recording.stream.cancel()
    await recording.done
    expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[ST2] keeps what came before a failure', async () => {
    const { fixture, recording } = await recorded([
      [{ text: 'Half' }, call, { fails: new Error('overloaded') }],
    ])
    await recording.done
    const turn: Turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'failed' } })
    expect(turn.steps[0]?.parts).toMatchObject([{ text: 'Half' }, { type: 'call' }])
    for (const each of callsOf(turn)) expect(each.state).not.toBe('running')
  })

  it('[RS5] is refused while a run is active', async () => {
    const fixture = await createFixture(() => [{ text: 'x' }, { waitMs: 60_000 }])
    await fixture.send('first')
    const { threadId } = fixture
    const source = hostLoop([[{ text: 'y' }]]).stream as AsyncIterable<RecordedPart>
    const refused = await fixture.holdfast.record(source, { threadId, message: message('other') })
    expect(refused.kind).toBe('run-active')
    await fixture.holdfast.stop(threadId)
  })
})
