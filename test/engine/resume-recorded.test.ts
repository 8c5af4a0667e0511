import { callsOf, type HoldfastOptions, type LifecycleEvent, memory, type Store } from 'holdfast'
import { expect, it, onTestFinished } from 'vitest'
import { createScriptedClock, settled } from '../support/scripted-clock.ts'
import { createFixture, messageId } from './fixture.ts'

const asking = async function* () {
  const toolCall = { toolCallId: 'r1', toolName: 'remove', input: {} }
  yield { type: 'start-step' }
  yield { type: 'tool-call', ...toolCall }
  yield { type: 'tool-approval-request', approvalId: 'a1', toolCall }
  yield { type: 'finish', finishReason: 'tool-calls' }
}

/** A recorded turn whose call waits for approval, in a store whose next reads of messages fail when they are told to. */
async function recordAsking(options: Partial<HoldfastOptions> = {}) {
  const base = memory()
  let faults = 0
  const store: Store = {
    ...base,
    async readMessage(threadId, id, ...how) {
      if (id !== 'u1' && faults-- > 0) throw new Error('gone for a moment')
      return base.readMessage(threadId, id, ...how)
    },
  }
  const clock = createScriptedClock()
  const resumed: string[] = []
  const fixture = await createFixture(() => [], {
    store,
    clock,
    resumeRecorded: async ({ turnId }) => void resumed.push(turnId),
    ...options,
  })
  const { holdfast, threadId } = fixture
  onTestFinished(() => holdfast.close())
  const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'go' }] as const }
  const record = async () => {
    const recording = await holdfast.record(asking(), { threadId, message })
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    await recording.done
    return recording
  }
  const accept = async () => {
    const [call] = callsOf(await fixture.last())
    const decisions = [{ toolCallId: call?.id ?? '', decision: 'accept' }] as const
    return holdfast.decide({ threadId, by: 'ana', decisions })
  }
  const fail = (times: number) => (faults = times)
  return { ...fixture, record, accept, fail, clock, resumed }
}

const failures = (log: readonly LifecycleEvent[]) =>
  log.filter(({ type }) => type === 'recovery-failed')

it('[AP5 OP6] a decision is stored and answered although the turn cannot be read, and its loop goes on later', async () => {
  const { record, accept, fail, clock, resumed, log } = await recordAsking()
  const { turnId } = await record()
  fail(2)
  expect(await accept()).toMatchObject([{ kind: 'accepted' }])
  expect([resumed, failures(log).length]).toEqual([[], 1])
  await clock.advance(1_000)
  expect([resumed, failures(log).length]).toEqual([[], 2])
  await clock.advance(2_000)
  expect([resumed, failures(log).length]).toEqual([[turnId], 2])
  await clock.advance(60_000)
  expect(resumed).toEqual([turnId])
})

it('[AP5 OP6] a turn that waits and cannot be read ends no process: that is reported', async () => {
  const { record, accept, fail, clock, resumed, log } = await recordAsking()
  fail(1)
  const { turnId } = await record()
  await settled()
  expect(failures(log).length).toBe(1)
  await clock.advance(1_000)
  // It waits still.
  expect(resumed).toEqual([])
  await accept()
  expect(resumed).toEqual([turnId])
})

it('[OP4] close waits until such a turn has been read', async () => {
  const reading = Promise.withResolvers<null>()
  const base = memory()
  let isRead = false
  const store: Store = {
    ...base,
    readMessage: (threadId, id, ...how) =>
      id === 'u1'
        ? base.readMessage(threadId, id, ...how)
        : reading.promise.finally(() => (isRead = true)),
  }
  const { record, holdfast } = await recordAsking({ store })
  await record()
  const closed = holdfast.close().then(() => isRead)
  await settled()
  reading.resolve(null)
  expect(await closed).toBe(true)
})

it('[OP4] after close nothing is read again', async () => {
  const { record, accept, fail, clock, resumed, holdfast } = await recordAsking()
  await record()
  fail(1)
  await accept()
  await holdfast.close()
  await clock.advance(60_000)
  expect(resumed).toEqual([])
})
