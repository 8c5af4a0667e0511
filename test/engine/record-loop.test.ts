import { isStepCount, streamText, tool } from 'ai'
import { callsOf, parseThreadId, type RecordedLoop, type Recording } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createScriptedClock, settled } from '../support/scripted-clock.ts'
import { createFixture, messageId, statesOf } from './fixture.ts'

async function createLoop() {
  const deleted: string[] = []
  const turns: { turnId: string; prompt: readonly unknown[] }[] = []
  const loop: RecordedLoop = ({ turnId, messages }) => {
    turns.push({ turnId, prompt: messages.map(({ role }) => role) })
    return streamText({
      model: scriptedModel(({ prompt }) =>
        prompt.at(-1)?.role === 'tool'
          ? [{ text: 'Gone.' }]
          : [{ call: 'remove', input: { path: '/notes' } }],
      ),
      messages,
      stopWhen: isStepCount(3),
      tools: {
        remove: tool({
          inputSchema: z.object({ path: z.string() }),
          needsApproval: true,
          execute: ({ path }) => deleted.push(path),
        }),
      },
    }).stream
  }
  const fixture = await createFixture(() => [])
  onTestFinished(() => fixture.holdfast.close())
  const { holdfast, threadId } = fixture
  const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
  const ask = () => holdfast.record(loop, { threadId, message, ownerId: 'owner' })
  return { ...fixture, loop, deleted, turns, ask }
}

const done = async (recording: Recording) => {
  if (recording.kind === 'recording') await recording.done
  return recording.kind
}

it('[CL12 AP5 AP7] a loop is called with the messages of the ledger, and runs what was asked about and accepted', async () => {
  const { ask, loop, deleted, turns, holdfast, threadId, last } = await createLoop()
  await done(await ask())
  const turn = await last()
  const [call] = callsOf(turn)
  expect(turns).toEqual([{ turnId: turn.id, prompt: ['user'] }])
  expect(statesOf(turn)).toEqual(['awaiting-approval'])
  const message = {
    id: turn.id,
    role: 'assistant',
    parts: [
      {
        type: 'tool-remove',
        toolCallId: call?.id,
        state: 'approval-responded',
        // Not what was asked about.
        input: { path: '/' },
        approval: { id: call?.id, approved: true },
      },
    ],
  }
  const next = { threadId, ownerId: 'owner', continue: turn.id, message }
  expect(await done(await holdfast.record(loop, next))).toBe('recording')
  expect(deleted).toEqual(['/notes'])
  expect(statesOf(await last())).toEqual(['succeeded'])
  expect(turns.map(({ turnId }) => turnId)).toEqual([turn.id, turn.id])
})

it('[HT2 AP9] a loop is not called for what is refused, or was sent before', async () => {
  const { ask, loop, deleted, turns, holdfast, threadId, last } = await createLoop()
  await done(await ask())
  const [call] = callsOf(await last())
  expect(await done(await ask())).toBe('repeated')
  const forged = {
    id: 'turn-of-nobody',
    role: 'assistant',
    parts: [
      {
        type: 'tool-remove',
        toolCallId: 'invented',
        state: 'approval-responded',
        input: { path: '/' },
        approval: { id: 'invented', approved: true },
      },
    ],
  }
  const { id } = await last()
  const kinds = []
  for (const [thread, owner, turn] of [
    ['thread-2', 'owner', id],
    [threadId, 'mallory', id],
    [threadId, 'owner', 'turn-of-nobody'],
  ] as const) {
    const request = { threadId: parseThreadId(thread), ownerId: owner, continue: turn }
    try {
      kinds.push(
        await done(await holdfast.record(loop, { ...request, message: { ...forged, id: turn } })),
      )
    } catch (error) {
      kinds.push((error as { code: string }).code)
    }
  }
  expect(kinds).toEqual(['no-thread', 'no-thread', 'message-not-found'])
  expect([turns.length, deleted]).toEqual([1, []])
  expect(callsOf(await last())[0]).toEqual(call)
})

it.each<[string, RecordedLoop, RegExp]>([
  [
    'throws',
    () => {
      throw new Error('no key')
    },
    /no key/,
  ],
  ['returns no stream', () => ({ stream: 1 }) as never, /record takes a stream/],
])('[CL12 ST1] a loop that %s fails its turn', async (_, loop, reason) => {
  const { holdfast, threadId, last } = await createFixture(() => [], {
    errorText: (error) => (error as Error).message,
  })
  onTestFinished(() => holdfast.close())
  const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
  await done(await holdfast.record(loop, { threadId, message }))
  const { progress } = await last()
  expect(progress).toMatchObject({
    ending: { kind: 'failed', error: { message: expect.stringMatching(reason) as string } },
  })
})

it('[CL12 ST1] a loop that begins after its turn was stopped is closed', async () => {
  const clock = createScriptedClock()
  const { holdfast, threadId, last } = await createFixture(() => [], { clock })
  onTestFinished(() => holdfast.close())
  const begun = Promise.withResolvers<ReadableStream>()
  let isClosed = false
  const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
  const recording = await holdfast.record(() => begun.promise, { threadId, message })
  await settled()
  await holdfast.stop(threadId)
  await done(recording)
  expect((await last()).progress).toMatchObject({ ending: { kind: 'stopped' } })
  begun.resolve(new ReadableStream({ cancel: () => void (isClosed = true) }))
  await settled()
  expect(isClosed).toBe(true)
})
