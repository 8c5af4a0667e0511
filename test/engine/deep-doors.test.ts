import { callsOf, importThreads, type Json, parseOwnerId, readImport } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { createFixture, messageId } from './fixture.ts'

const deep = (levels: number): Json => {
  let value: Json = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return value
}

describe.each([5_000, 100_000])('%i levels', (levels) => {
  it('[CL6a] come in through a recorded loop, and the turn is read and gone on with', async () => {
    const fixture = await createFixture(() => [{ text: 'Fine.' }])
    const value = deep(levels)
    async function* source() {
      yield { type: 'start-step' }
      yield { type: 'text-delta', id: '1', text: 'So', providerMetadata: { x: value } }
      yield { type: 'tool-call', toolCallId: 'a', toolName: 't', input: value }
      yield { type: 'tool-result', toolCallId: 'a', toolName: 't', input: value, output: value }
      yield {
        type: 'tool-call',
        toolCallId: 'b',
        toolName: 't',
        input: {},
        providerMetadata: { x: value },
      }
      yield {
        type: 'tool-result',
        toolCallId: 'b',
        toolName: 't',
        output: value,
        preliminary: true,
      }
      yield { type: 'tool-error', toolCallId: 'b', toolName: 't', input: {}, error: value }
      yield { type: 'data-x', id: 'd', data: value }
      yield { type: 'finish-step', finishReason: 'stop', usage: value }
      yield { type: 'finish', finishReason: 'stop' }
    }
    const recording = await fixture.holdfast.record(source(), {
      threadId: fixture.threadId,
      message: { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }], metadata: value },
    })
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    void recording.stream.cancel()
    await recording.done
    const turn = await fixture.last()
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
    expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['succeeded', 'failed'])
    expect((await fixture.runTurn('next')).progress).toMatchObject({
      ending: { kind: 'completed' },
    })
  })

  it('[CL6a] come in through the repository and through client outputs', async () => {
    const fixture = await createFixture(() => [{ text: 'Fine.' }])
    const { toolCalls } = fixture.holdfast
    const { threadId } = fixture
    const id = messageId('m1')
    const call = { threadId, messageId: id, callId: 'c', name: 't', isPartial: false }
    await toolCalls.upsert({ ...call, arguments: deep(levels) })
    expect(await toolCalls.setResult(id, 'c', deep(levels))).toBe(true)
    await toolCalls.upsert({ ...call, callId: 'e', arguments: {} })
    expect(await toolCalls.setError(id, 'e', deep(levels))).toBe(true)
    const { toolCalls: list } = await toolCalls.getByMessage(id, 'all')
    expect(list.map(({ state }) => state)).toEqual(['succeeded', 'failed'])
  })

  it('[CL6a] come in through an import', async () => {
    const fixture = await createFixture(() => [{ text: 'Fine.' }])
    const text = `${'['.repeat(levels)}1${']'.repeat(levels)}`
    const line = `{"id":"m","role":"assistant","parts":[{"type":"tool-t","toolCallId":"c","state":"output-available","input":{},"output":${text}}],"metadata":${text}}`
    async function* bytes() {
      yield new TextEncoder().encode(line)
    }
    const report = await importThreads(fixture.store, readImport(bytes()), {
      ownerId: parseOwnerId('owner'),
    }).catch((error: unknown) => String(error))
    expect(JSON.stringify(report)).not.toContain('call stack')
  })
})
