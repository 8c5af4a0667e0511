import { tool } from 'ai'
import { callsOf, type CallId, createHoldfast, type Json } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Fixture, gate, tools } from './fixture.ts'

const deleted: string[] = []
const remove = tool({
  inputSchema: z.object({ title: z.string() }),
  execute: ({ title }) => ({ deleted: deleted.push(title), title }),
})
const removeCalls = (...titles: readonly string[]) =>
  titles.map((title) => ({ call: 'remove', input: { title } }))

async function waiting(...titles: readonly string[]): Promise<Fixture & { ids: CallId[] }> {
  deleted.length = 0
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? removeCalls(...titles) : [{ text: 'Done.' }]),
    { tools: tools({ remove }), policies: { remove: { approval: 'always' } } },
  )
  const turn = await fixture.runTurn('delete them')
  return { ...fixture, ids: [...callsOf(turn)].map(({ id }) => id) }
}

const decide = (
  { holdfast, threadId }: Fixture,
  callId: CallId | undefined,
  decision: 'accept' | 'reject',
  more: { by?: string; args?: Json; feedback?: string } = {},
) => {
  const { by = 'ann', ...rest } = more
  const decisions = [{ callId: callId as CallId, decision, ...rest }]
  return holdfast.decide({ threadId, by, decisions }).then(([result]) => result)
}

describe('an approval', () => {
  it('[AP1] waits, stored, while the other calls of the step run', async () => {
    const fixture = await createFixture(
      () => [...removeCalls('A'), { call: 'echo', input: { value: 1 } }],
      { tools: tools({ remove }), policies: { remove: { approval: 'always' } } },
    )
    const turn = await fixture.runTurn('go')
    expect(turn.progress).toEqual({ status: 'waiting', waitingFor: 'approval' })
    expect([...callsOf(turn)].map(({ state }) => state)).toEqual(['awaiting-approval', 'succeeded'])
    // Nobody holds the thread while it waits.
    expect(await fixture.store.requestStop(fixture.threadId)).toEqual({ kind: 'idle' })
  })

  it('[AP1] is asked for always, never, or by a function of the arguments, ours or the SDK’s', async () => {
    const run = async (options: Parameters<typeof createFixture>[1]) => {
      const fixture = await createFixture(
        ({ index }) => (index === 0 ? removeCalls('small', 'BIG') : [{ text: 'ok' }]),
        { tools: { remove }, ...options },
      )
      return [...callsOf(await fixture.runTurn('go'))].map(({ state }) => state)
    }
    const isBig = (input: unknown) => (input as { title: string }).title === 'BIG'
    const both = ['awaiting-approval', 'awaiting-approval']
    const one = ['succeeded', 'awaiting-approval']
    expect(await run({ policies: { remove: { approval: 'always' } } })).toEqual(both)
    expect(await run({ policies: { remove: { approval: isBig } } })).toEqual(one)
    expect(await run({ toolApproval: { remove: 'user-approval' } })).toEqual(both)
    expect(
      await run({
        toolApproval: { remove: (input) => (isBig(input) ? 'user-approval' : undefined) },
      }),
    ).toEqual(one)
    expect(await run({ tools: { remove: { ...remove, needsApproval: isBig } } })).toEqual(one)
    const ours = { policies: { remove: { approval: 'never' } } } as const
    expect(await run({ toolApproval: { remove: 'user-approval' }, ...ours })).toEqual([
      'succeeded',
      'succeeded',
    ])
    expect(await run({ toolApproval: { remove: 'denied' } })).toEqual(['denied', 'denied'])
    const broken = () => Promise.reject(new Error('policy down'))
    expect(await run({ policies: { remove: { approval: broken } } })).toEqual(['failed', 'failed'])
  })

  it('[AP5] is answered when it is stored, before the turn goes on', async () => {
    const order: string[] = []
    const model = scriptedModel(({ index }) =>
      index === 0 ? removeCalls('A') : [{ text: 'Done.' }],
    )
    const agent = ({ reason }: { readonly reason: string }) => {
      order.push(reason)
      return { model, tools: { remove }, policies: { remove: { approval: 'always' } } } as const
    }
    const fixture = await createFixture(() => [], { agent })
    const [call] = [...callsOf(await fixture.runTurn('go'))]
    await decide(fixture, call?.id, 'accept')
    order.push('answered')
    await fixture.holdfast.settled()
    expect(order).toEqual(['begin', 'answered', 'resume'])
  })

  it('[AP2] has one winner of two, and the tool runs once however often it is asked', async () => {
    const fixture = await waiting('A')
    const [first, second] = await Promise.all([
      decide(fixture, fixture.ids[0], 'accept', { by: 'ann' }),
      decide(fixture, fixture.ids[0], 'reject', { by: 'bob' }),
    ])
    const results = [first, second]
    expect(results.filter((result) => result?.kind === 'already-decided')).toHaveLength(1)
    const winner = results.find((result) => result?.kind !== 'already-decided')
    const loser = results.find((result) => result?.kind === 'already-decided')
    expect(loser).toMatchObject({ decision: { kind: winner?.kind } })
    await fixture.holdfast.settled()
    const by = winner?.kind === 'accepted' ? 'ann' : 'bob'
    const same = winner?.kind === 'accepted' ? 'accept' : 'reject'
    expect(await decide(fixture, fixture.ids[0], same, { by })).toEqual({
      kind: winner?.kind,
      repeated: true,
    })
    await fixture.holdfast.settled()
    expect(deleted).toEqual(winner?.kind === 'accepted' ? ['A'] : [])
  })

  it('[AP3] may edit the arguments, and refuses those that do not fit', async () => {
    const fixture = await waiting('A')
    const bad = await decide(fixture, fixture.ids[0], 'accept', { args: { title: 7 } })
    expect(bad).toMatchObject({ kind: 'invalid-args' })
    expect((await fixture.last()).progress.status).toBe('waiting')
    const edited = { title: 'B' }
    expect(await decide(fixture, fixture.ids[0], 'accept', { args: edited })).toEqual({
      kind: 'accepted',
    })
    await fixture.holdfast.settled()
    expect(deleted).toEqual(['B'])
    const [call] = callsOf(await fixture.last())
    expect(call).toMatchObject({
      input: { value: edited },
      proposedInput: { title: 'A' },
      output: { value: { title: 'B' } },
    })
    const told = JSON.stringify(fixture.calls[1]?.prompt)
    expect(told).toContain('"B"')
    expect(told).not.toContain('"A"')
  })

  it('[AP4 AP7] shows the model a rejection and its reason, and keeps who, when, what and why', async () => {
    const fixture = await waiting('A')
    await decide(fixture, fixture.ids[0], 'reject', { feedback: 'I still need it' })
    await fixture.holdfast.settled()
    const turn = await fixture.last()
    expect([...callsOf(turn)]).toMatchObject([
      {
        state: 'denied',
        cause: 'denied',
        decision: {
          kind: 'rejected',
          by: 'ann',
          feedback: 'I still need it',
          inputHash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          at: expect.any(Number) as number,
        },
      },
    ])
    expect(deleted).toEqual([])
    expect(JSON.stringify(fixture.calls[1]?.prompt)).toContain('I still need it')
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[AP5] goes on by itself when the last waiting call is decided, in the same message', async () => {
    const fixture = await waiting('A', 'B')
    const [first] = await fixture.messages()
    await decide(fixture, fixture.ids[0], 'accept')
    await fixture.holdfast.settled()
    // What was accepted has run; the turn waits for the other one.
    expect(deleted).toEqual(['A'])
    expect((await fixture.last()).progress.status).toBe('waiting')
    expect(fixture.calls).toHaveLength(1)
    await decide(fixture, fixture.ids[1], 'accept')
    await fixture.holdfast.settled()
    expect(deleted).toEqual(['A', 'B'])
    const messages = await fixture.messages()
    expect(messages.map(({ id }) => id)).toEqual([first?.id, messages[1]?.id])
    expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[AP6] decides 56 calls in one request', async () => {
    const titles = Array.from({ length: 56 }, (_, index) => `note ${index}`)
    const fixture = await waiting(...titles)
    const results = await fixture.holdfast.decide({
      threadId: fixture.threadId,
      by: 'ann',
      decisions: fixture.ids.map((callId, index) => ({
        callId,
        decision: index % 2 === 0 ? 'accept' : 'reject',
      })),
    })
    await fixture.holdfast.settled()
    expect(results.map(({ kind }) => kind)).toEqual(
      titles.map((_, index) => (index % 2 === 0 ? 'accepted' : 'rejected')),
    )
    expect(deleted.toSorted()).toEqual(titles.filter((_, index) => index % 2 === 0).toSorted())
    expect(fixture.calls).toHaveLength(2)
  })

  it('[AP8] is denied as superseded by a new message, which is stored and answered', async () => {
    const fixture = await waiting('A', 'B')
    const next = await fixture.runTurn('never mind')
    expect(next.progress).toMatchObject({ ending: { kind: 'completed' } })
    const [, old] = await fixture.messages()
    expect(old?.role === 'assistant' && [...callsOf(old)]).toMatchObject([
      { state: 'denied', cause: 'superseded' },
      { state: 'denied', cause: 'superseded' },
    ])
    expect(await decide(fixture, fixture.ids[0], 'accept')).toEqual({
      kind: 'not-waiting',
      state: 'denied',
    })
    expect(deleted).toEqual([])
  })

  it('[AP9] on a call of another thread, or that is not waiting, decides nothing', async () => {
    const fixture = await waiting('A')
    const elsewhere = { ...fixture, threadId: 'thread-2' as never }
    expect(await decide(elsewhere, fixture.ids[0], 'accept')).toEqual({ kind: 'not-found' })
    expect(await decide(fixture, 'nope', 'accept')).toEqual({ kind: 'not-found' })
    const free = await createFixture(
      ({ index }) => (index === 0 ? [{ call: 'echo', input: { value: 1 } }] : [{ text: 'ok' }]),
      { tools: tools() },
    )
    const [call] = callsOf(await free.runTurn('go'))
    expect(await decide(free, call?.id, 'accept')).toEqual({
      kind: 'not-waiting',
      state: 'succeeded',
    })
  })

  it('[AP1 AP5] outlives the process that asked: another engine takes the decision and goes on', async () => {
    const fixture = await waiting('A')
    await fixture.holdfast.close()
    const other = createHoldfast({
      store: fixture.store,
      model: scriptedModel(() => [{ text: 'Gone.' }]),
      tools: { remove },
      policies: { remove: { approval: 'always' } },
      recoverEveryMs: 0,
    })
    await decide({ ...fixture, holdfast: other }, fixture.ids[0], 'accept')
    await other.settled()
    expect(deleted).toEqual(['A'])
    expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
    await other.close()
  })

  it('[AP5] loses no decision that comes while another call still runs', async () => {
    deleted.length = 0
    const hold = gate()
    const begun = gate()
    const slow = tool({
      inputSchema: z.object({}),
      async execute() {
        begun.open()
        await hold.opened
        return 'slow'
      },
    })
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [...removeCalls('A'), { call: 'slow', input: {} }] : [{ text: 'ok' }],
      { tools: { remove, slow }, policies: { remove: { approval: 'always' } } },
    )
    await fixture.send('go')
    await begun.opened
    const [waitingCall] = callsOf(await fixture.last())
    expect(await decide(fixture, waitingCall?.id, 'accept')).toEqual({ kind: 'accepted' })
    hold.open()
    await fixture.holdfast.settled()
    expect(deleted).toEqual(['A'])
    expect((await fixture.last()).progress).toMatchObject({ ending: { kind: 'completed' } })
  })
})
