import { tool, type ToolSet } from 'ai'
import { callsOf, createHoldfast, type Turn } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, type Fixture, type Script, statesOf } from './fixture.ts'

const removed: string[] = []
const remove = tool({
  inputSchema: z.object({ title: z.string() }),
  execute: ({ title }) => removed.push(title),
})
// Run by the client.
const clientTools: ToolSet = { quiz: tool({ inputSchema: z.object({ question: z.string() }) }) }

const start = async (
  script: Script = ({ index }) =>
    index === 0 ? [{ call: 'remove', input: { title: 'A' } }] : [{ text: 'Done.' }],
): Promise<Fixture & { readonly turn: Turn }> => {
  removed.length = 0
  const fixture = await createFixture(script, {
    tools: { remove, ...clientTools },
    policies: { remove: { approval: 'always' } },
  })
  return { ...fixture, turn: await fixture.runTurn('go') }
}

const ended = (turn: Turn) => (turn.progress.status === 'ended' ? turn.progress.ending.kind : null)

describe('stop of a turn that waits', () => {
  it('[ST1a] ends the waiting for an approval, once; the next message works and the prompt says so', async () => {
    const fixture = await start()
    const { holdfast, threadId } = fixture
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    const turn = await fixture.last()
    expect(ended(turn)).toBe('stopped')
    expect([...callsOf(turn)]).toMatchObject([{ state: 'stopped', cause: 'stopped' }])
    expect(await holdfast.stop(threadId)).toEqual({ kind: 'idle', held: 0 })
    expect(ended(await fixture.runTurn('and now?'))).toBe('completed')
    expect(JSON.stringify(fixture.calls.at(-1)?.prompt)).toContain(
      'The user stopped this call. It did not run and had no effect.',
    )
    expect(removed).toEqual([])
    expect(fixture.log.filter(({ type }) => type === 'turn-ended')).toMatchObject([
      { ending: 'stopped' },
      { ending: 'completed' },
    ])
  })

  it('[ST1a] notifies whoever follows, from any process on the same store', async () => {
    const fixture = await start()
    const { store, threadId } = fixture
    const model = scriptedModel(() => [])
    const other = createHoldfast({ store, model, recoverEveryMs: 0 })
    const seen = fixture.until(({ messages }) => {
      const turn = messages.at(-1)
      return turn?.role === 'assistant' && ended(turn) === 'stopped'
    })
    expect(await other.stop(threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect(statesOf((await seen).messages.at(-1) as Turn)).toEqual(['stopped'])
  })

  it('[ST1a] refuses a decision that comes after it', async () => {
    const fixture = await start()
    const { holdfast, threadId } = fixture
    await holdfast.stop(threadId)
    const [call] = callsOf(fixture.turn)
    const decisions = [{ callId: call!.id, decision: 'accept' }] as const
    expect(await holdfast.decide({ threadId, by: 'ann', decisions })).toEqual([
      { kind: 'not-waiting', state: 'stopped' },
    ])
    await holdfast.settled()
    expect(removed).toEqual([])
  })

  it('[ST1a AP2] against a decision, exactly one wins, and both get that as their result', async () => {
    for (const first of ['stop', 'decide'] as const) {
      const fixture = await start()
      const { holdfast, threadId } = fixture
      const [call] = callsOf(fixture.turn)
      const decisions = [{ callId: call!.id, decision: 'accept' }] as const
      const stop = () => holdfast.stop(threadId)
      const decide = () => holdfast.decide({ threadId, by: 'ann', decisions })
      const [stopped, decided] =
        first === 'stop'
          ? await Promise.all([stop(), decide()])
          : await Promise.all([decide(), stop()]).then(([one, two]) => [two, one] as const)
      await holdfast.settled()
      const turn = await fixture.last()
      const isAccepted = decided[0]?.kind === 'accepted'
      expect(decided[0]?.kind).toBe(isAccepted ? 'accepted' : 'not-waiting')
      expect(statesOf(turn)[0] === 'stopped' && removed.length === 1).toBe(false)
      // Whoever was told that it stopped finds it stopped, unless it had ended by itself.
      expect(turn.progress.status).toBe('ended')
      if (!isAccepted) expect([stopped.kind, ended(turn)]).toEqual(['stopped', 'stopped'])
    }
  })

  it('[ST1a] ends the waiting for the client’s own tool', async () => {
    const fixture = await start(() => [{ call: 'quiz', input: { question: 'Why?' } }])
    expect(fixture.turn.progress).toEqual({ status: 'waiting', waitingFor: 'client' })
    expect(await fixture.holdfast.stop(fixture.threadId)).toEqual({ kind: 'stopped', held: 0 })
    expect(statesOf(await fixture.last())).toEqual(['stopped'])
  })

  it('[ST1a] has one answer "stopped" however many ask at once', async () => {
    const fixture = await start()
    const asked = Array.from({ length: 5 }, () => fixture.holdfast.stop(fixture.threadId))
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'stopped')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'idle')).toHaveLength(4)
  })
})
