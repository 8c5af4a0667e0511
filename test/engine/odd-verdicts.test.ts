import { tool } from 'ai'
import { callsOf, type HoldfastOptions } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createFixture, statesOf } from './fixture.ts'

type ToolApproval = Exclude<HoldfastOptions['toolApproval'], undefined>

/** One call of a tool of a host whose `toolApproval` gives this, whatever its type says. */
async function judge(status: unknown) {
  const ran: unknown[] = []
  const act = tool({ inputSchema: z.object({}), execute: (input) => ran.push(input) })
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [{ call: 'act', input: {} }] : [{ text: 'Done.' }]),
    { tools: { act }, toolApproval: (() => status) as ToolApproval },
  )
  const turn = await fixture.runTurn('go')
  const read = async (format: 'ui' | 'vercel' | 'entities' | 'chat') =>
    (await fixture.holdfast.messages('thread-1', { format }))?.results.length
  const pages = [await read('ui'), await read('vercel'), await read('entities'), await read('chat')]
  return { turn, ran: ran.length, isReadable: pages.every((count) => (count ?? 0) >= 2) }
}

const reasons = [null, 5, 5n, { words: 'no' }, ['no'], true, undefined]

describe('a verdict of toolApproval', () => {
  it.each(reasons)('[LG7 AP4] with %s as its reason has none', async (reason) => {
    for (const [type, state, count] of [
      ['denied', 'denied', 0],
      ['approved', 'succeeded', 1],
    ] as const) {
      const { turn, ran, isReadable } = await judge({ type, reason })
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      expect(statesOf(turn)).toEqual([state])
      expect([...callsOf(turn)][0]?.decision).not.toHaveProperty('feedback')
      expect(ran).toBe(count)
      expect(isReadable).toBe(true)
    }
  })

  it.each([null, 5, true, 'deny', {}, { type: 'rejected' }, { type: null }, ['denied']])(
    '[AP1 CL6] that is none (%j) lets nothing run',
    async (status) => {
      const { turn, ran, isReadable } = await judge(status)
      expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
      expect(statesOf(turn)).toEqual(['failed'])
      expect(ran).toBe(0)
      expect(isReadable).toBe(true)
    },
  )
})
