import { isStepCount, type ModelMessage, streamText, tool, type ToolSet } from 'ai'
import { callsOf, createHoldfast, type HoldfastOptions, memory, type Recording } from 'holdfast'
import { type ScriptPart, scriptedModel } from 'holdfast/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { countVerbs } from '../server/count-verbs.ts'
import { createFixture, messageId, statesOf, textOf } from './fixture.ts'

const removed: string[] = []
const remove = tool({
  inputSchema: z.object({ path: z.string() }),
  needsApproval: true,
  execute({ path }) {
    removed.push(path)
    return { removed: path }
  },
})
/** Run by the client. */
const ask = tool({ inputSchema: z.object({ question: z.string() }) })

const tools: ToolSet = { remove, ask: ask as ToolSet[string] }

/** What a host does that keeps its own `streamText`. */
const hostLoop = (messages: ModelMessage[], ...steps: readonly (readonly ScriptPart[])[]) =>
  streamText({
    model: scriptedModel(({ index }) => steps[index] ?? []),
    tools,
    messages,
    stopWhen: isStepCount(5),
    maxRetries: 0,
    onError: () => {},
  }).stream

const removing: readonly ScriptPart[] = [
  { text: 'Removing.' },
  { call: 'remove', input: { path: '/tmp' }, id: 'r1' },
]
const user = { role: 'user', content: 'go' } as const

async function recordFirst(script = removing, options: Partial<HoldfastOptions> = {}) {
  removed.length = 0
  const fixture = await createFixture(() => [], options)
  onTestFinished(() => fixture.holdfast.close())
  const { threadId, holdfast } = fixture
  const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
  const recording = begun(await holdfast.record(hostLoop([user], script), { threadId, message }))
  await recording.done
  const turn = await fixture.last()
  const [call] = callsOf(turn)
  if (call === undefined) throw new Error('no call')
  return { fixture, holdfast, threadId, turnId: recording.turnId, turn, call }
}

function begun(recording: Recording): Extract<Recording, { kind: 'recording' }> {
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  return recording
}

describe('a recorded call that waits for approval', () => {
  it('[CL12 AP1] is stored as waiting, and the turn waits with it', async () => {
    const { turn } = await recordFirst()
    expect(statesOf(turn)).toEqual(['awaiting-approval'])
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'approval' })
    expect(removed).toEqual([])
  })

  it.each(['accept', 'reject'] as const)(
    '[AP2 AP5] can be decided, and the host is called to go on: %s',
    async (decision) => {
      const resumed: ModelMessage[][] = []
      const { fixture, holdfast, threadId, turnId, call } = await recordFirst(removing, {
        async resumeRecorded({ threadId: thread, turnId: turn, messages }) {
          resumed.push(messages)
          const source = hostLoop(messages, [{ text: 'Done.' }])
          await holdfast.record(source, { threadId: thread, continue: turn })
        },
      })
      const decided = await holdfast.decide({
        threadId,
        by: 'ana',
        decisions: [{ callId: call.id, decision, feedback: 'because' }],
      })
      expect(decided).toEqual([{ kind: decision === 'accept' ? 'accepted' : 'rejected' }])
      await holdfast.settled()
      const turn = await fixture.last()
      expect(turn.id).toBe(turnId)
      expect(resumed).toHaveLength(1)
      expect(textOf(turn)).toEqual(['Removing.', 'Done.'])
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      expect(removed).toEqual(decision === 'accept' ? ['/tmp'] : [])
      expect([...callsOf(turn)]).toMatchObject([
        decision === 'accept'
          ? { state: 'succeeded', decision: { kind: 'accepted', by: 'ana' } }
          : { state: 'denied', feedback: 'because', decision: { kind: 'rejected', by: 'ana' } },
      ])
    },
  )

  it('[AP2 AP7 CL12] waits no second time when its loop asks again, and keeps who decided', async () => {
    const { fixture, holdfast, threadId, turnId, call } = await recordFirst()
    const decisions = [{ callId: call.id, decision: 'accept' }] as const
    await holdfast.decide({ threadId, by: 'ana', decisions })
    const again = [
      { type: 'tool-approval-request', approvalId: 'again', toolCall: { toolCallId: 'r1' } },
      { type: 'tool-result', toolCallId: 'r1', toolName: 'remove', output: 'gone' },
      { type: 'finish', finishReason: 'stop' },
    ]
    const source = (async function* () {
      yield* again
    })()
    const next = begun(await holdfast.record(source, { threadId, continue: turnId }))
    const passed = await Array.fromAsync(next.stream)
    await next.done
    expect(passed.map(({ type }) => type)).toEqual(['tool-result', 'finish'])
    const [decided] = callsOf(await fixture.last())
    expect(decided).toMatchObject({ state: 'succeeded', decision: { kind: 'accepted', by: 'ana' } })
  })

  const ask1 = { type: 'tool-approval-request', approvalId: 'a2', toolCall: { toolCallId: 'r1' } }
  const finished = { type: 'finish', finishReason: 'tool-calls' }
  it.each<readonly [string, readonly object[], object]>([
    ['asks for it again', [ask1, finished], { kind: 'completed' }],
    ['has nothing more', [], { kind: 'failed', error: { code: 'stream-cut' } }],
  ])(
    '[CL12 AP5] ends with its turn if the loop that was called to go on %s: it is not called again without end',
    async (_, parts, ending) => {
      let resumed = 0
      const { fixture, holdfast, threadId, call } = await recordFirst(removing, {
        async resumeRecorded({ threadId: thread, turnId: turn }) {
          resumed++
          if (resumed > 3) return
          const source = (async function* () {
            yield* parts
          })()
          await begun(await holdfast.record(source, { threadId: thread, continue: turn })).done
        },
      })
      const decisions = [{ callId: call.id, decision: 'accept' }] as const
      await holdfast.decide({ threadId, by: 'ana', decisions })
      await holdfast.settled()
      const turn = await fixture.last()
      expect(turn.progress).toMatchObject({ status: 'ended', ending })
      expect(resumed).toBe(1)
      expect([...callsOf(turn)]).toMatchObject([
        { state: 'interrupted', decision: { kind: 'accepted', by: 'ana' } },
      ])
    },
  )

  it('[AP5] keeps a decision that nobody acts on yet, and goes on with it later', async () => {
    const { fixture, holdfast, threadId, turnId, call } = await recordFirst()
    const decisions = [{ callId: call.id, decision: 'accept' }] as const
    await holdfast.decide({ threadId, by: 'ana', decisions })
    expect(statesOf(await fixture.last())).toEqual(['ready'])
    expect((await fixture.last()).progress.status).toBe('waiting')
    const messages = await holdfast.modelMessages(threadId)
    const source = hostLoop(messages, [{ text: 'Done.' }])
    const next = begun(await holdfast.record(source, { threadId, continue: turnId }))
    expect(next.turnId).toBe(turnId)
    await next.done
    expect(statesOf(await fixture.last())).toEqual(['succeeded'])
    expect(removed).toEqual(['/tmp'])
  })

  it('[OP5a AP5] is decided by the message of the client with one read, and goes on with another', async () => {
    const { store, drain } = countVerbs(memory())
    const { holdfast, threadId, turnId, call } = await recordFirst(removing, { store })
    const message = {
      id: turnId,
      role: 'assistant',
      parts: [
        {
          type: 'tool-remove',
          toolCallId: call.id,
          state: 'approval-responded',
          input: { path: '/tmp' },
          approval: { id: call.id, approved: true },
        },
      ],
    }
    const messages = await holdfast.modelMessages(threadId)
    drain()
    const source = hostLoop(messages, [])
    const next = begun(await holdfast.record(source, { threadId, continue: turnId, message }))
    const reads = drain()
    await next.done
    expect(reads.filter((verb) => !verb.startsWith('commit'))).toEqual(['readPage', 'readPage'])
  })

  it.each([true, false])(
    '[AP7] that the host decided itself is decided by it: approved %s',
    async (approved) => {
      const { fixture, holdfast, threadId, turnId } = await recordFirst()
      const messages: ModelMessage[] = [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'tool-call', toolCallId: 'r1', toolName: 'remove', input: { path: '/tmp' } },
            { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'r1' },
          ],
        },
        { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: 'a1', approved }] },
      ]
      const source = hostLoop(messages, [{ text: 'Done.' }])
      const next = begun(
        await holdfast.record(source, { threadId, continue: turnId, by: 'user-7' }),
      )
      await next.done
      const turn = await fixture.last()
      expect([...callsOf(turn)]).toMatchObject([
        approved
          ? { state: 'succeeded', decision: { kind: 'accepted', by: 'user-7' } }
          : { state: 'denied', decision: { kind: 'rejected', by: 'user-7' } },
      ])
      expect(textOf(turn)).toEqual(['Removing.', 'Done.'])
    },
  )

  it('[AP1] in a stream is given by `true` alone', async () => {
    const fixture = await createFixture(() => [])
    async function* source() {
      const toolCall = { toolCallId: 'r1', toolName: 'remove', input: {} }
      yield { type: 'start-step' }
      yield { type: 'tool-call', ...toolCall }
      yield { type: 'tool-approval-request', approvalId: 'a1', toolCall }
      yield { type: 'tool-approval-response', approvalId: 'a1', toolCall, approved: 'false' }
      yield { type: 'finish-step', finishReason: 'tool-calls' }
    }
    const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
    const { threadId, holdfast } = fixture
    await begun(await holdfast.record(source(), { threadId, message })).done
    expect([...callsOf(await fixture.last())]).toMatchObject([{ decision: { kind: 'rejected' } }])
  })

  it('[AP8] is denied by a new message', async () => {
    const { fixture, holdfast, threadId, turnId } = await recordFirst()
    const message = { id: messageId('u2'), parts: [{ type: 'text', text: 'no' }] as const }
    const source = hostLoop([user], [{ text: 'Fine.' }])
    const next = begun(await holdfast.record(source, { threadId, message }))
    await next.done
    const first = (await fixture.messages()).find(({ id }) => id === turnId)
    expect(first).toMatchObject({ progress: { ending: { kind: 'superseded' } } })
    expect(next.turnId).not.toBe(turnId)
  })

  it('[CL12] waits for the client where the client runs the tool', async () => {
    const { fixture, holdfast, threadId, turnId, turn, call } = await recordFirst([
      { call: 'ask', input: { question: 'Which?' }, id: 'q1' },
    ])
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'client' })
    const outcome = { state: 'succeeded', output: { kind: 'inline', value: 'this' } } as const
    expect(await holdfast.addToolOutputs(threadId, [{ callId: call.id, outcome }])).toEqual([
      { kind: 'added' },
    ])
    const source = hostLoop(await holdfast.modelMessages(threadId), [{ text: 'Thanks.' }])
    await begun(await holdfast.record(source, { threadId, continue: turnId })).done
    expect(statesOf(await fixture.last())).toEqual(['succeeded'])
    expect(textOf(await fixture.last())).toEqual(['Thanks.'])
  })

  it('[HT3] refuses to go on with what is not the last turn, or is none', async () => {
    const { fixture, holdfast, threadId, turnId } = await recordFirst()
    const again = (id: string) =>
      holdfast.record(hostLoop([user], [{ text: 'x' }]), { threadId, continue: messageId(id) })
    await expect(again('nowhere')).rejects.toMatchObject({ code: 'message-not-found' })
    await expect(again('u1')).rejects.toMatchObject({ code: 'message-not-found' })
    await fixture.holdfast.toolCalls.upsert({
      threadId,
      messageId: messageId('later'),
      callId: 'x',
      name: 'x',
      arguments: {},
      isPartial: false,
    })
    await expect(again(turnId)).rejects.toMatchObject({ code: 'bad-request' })
  })

  it.each(['done', 'skip', 'retry'] as const)(
    '[CR3] is unknown if the process went while it may have run, and can be resolved: %s',
    async (resolution) => {
      const store = memory()
      const first = await createFixture(() => [], { store })
      const { threadId } = first
      const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
      const source = (async function* () {
        yield { type: 'tool-call', toolCallId: 'c', toolName: 'pay', input: {} }
        await new Promise(() => {})
      })()
      const recording = begun(await first.holdfast.record(source, { threadId, message }))
      for await (const part of recording.stream) if (part.type === 'tool-call') break
      await first.holdfast.close()
      const turn = await first.last()
      expect(turn.progress).toMatchObject({ ending: { kind: 'interrupted' } })
      expect(statesOf(turn)).toEqual(['unknown'])
      const resumed: ModelMessage[][] = []
      const second = createHoldfast({
        store,
        recoverEveryMs: 0,
        resumeRecorded: ({ messages }) => void resumed.push(messages),
      })
      onTestFinished(() => second.close())
      const [call] = callsOf(turn)
      if (call === undefined) throw new Error('no call')
      const by = 'ana'
      expect(await second.resolve({ threadId, callId: call.id, resolution, by })).toEqual({
        kind: 'resolved',
      })
      const states = { done: 'succeeded', skip: 'unknown', retry: 'ready' }
      expect(statesOf(await first.last())).toEqual([states[resolution]])
      // The engine has neither the host's tools nor its model.
      expect(second.running()).toEqual([])
      expect(resumed).toHaveLength(resolution === 'retry' ? 1 : 0)
    },
  )
})
