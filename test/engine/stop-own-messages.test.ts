import { tool } from 'ai'
import { type Holdfast, parseMessageId } from 'holdfast'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createFixture, gate } from './fixture.ts'

/** What a tool writes behind the turn that it belongs to, as the log of an agent of its own. */
const logOf = (holdfast: Holdfast, threadId: string) => {
  const messageId = parseMessageId('log')
  const call = { messageId, callId: 'c1', name: 'search', arguments: {}, isPartial: false }
  return {
    write: () => holdfast.toolCalls.upsert({ ...call, threadId }),
    end: () => holdfast.toolCalls.markAllComplete(messageId),
  }
}

it.each([
  ['is still open', false],
  ['is complete', true],
])(
  '[ST1 CL11] stop ends the run whose tool has written a message of its own that %s',
  async (_, isComplete) => {
    const begun = gate()
    let isAborted = false
    const slow = tool({
      inputSchema: z.object({}),
      async execute(_input, { abortSignal }) {
        const log = logOf(fixture.holdfast, fixture.threadId)
        await log.write()
        if (isComplete) await log.end()
        begun.open()
        await new Promise((resolve) => {
          abortSignal?.addEventListener('abort', resolve)
        })
        isAborted = true
      },
    })
    const fixture = await createFixture(() => [{ call: 'slow', input: {} }], { tools: { slow } })
    const { holdfast, threadId, store } = fixture
    onTestFinished(() => holdfast.close())
    const sent = await fixture.send('go')
    if (sent.kind !== 'started') throw new Error(sent.kind)
    await begun.opened
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect([isAborted, holdfast.running()]).toEqual([true, []])
    expect(await store.readMessage(threadId, sent.turnId)).toMatchObject({
      progress: { status: 'ended', ending: { kind: 'stopped' } },
    })
  },
)
