import { tool } from 'ai'
import { callsOf, createHoldfast, type Holdfast, memory, type Store } from 'holdfast'
import { scriptedModel } from 'holdfast/testing'
import { expect, it } from 'vitest'
import { z } from 'zod'

const large = 'x'.repeat(2_000_000)

const model = () =>
  scriptedModel(({ prompt }) =>
    prompt.at(-1)?.role === 'user'
      ? [0, 1, 2].map((nth) => ({ call: 'look', input: { nth } }))
      : [{ text: 'done' }],
  )
const tools = {
  look: tool({ inputSchema: z.object({ nth: z.number() }), execute: () => large }),
}
const ask = (holdfast: Holdfast, threadId: string) =>
  holdfast.send({
    threadId,
    create: { ownerId: threadId.slice(0, 3), title: '' },
    message: { parts: [{ type: 'text', text: 'go' }] },
  })

it('[OP7] results that arrive at once are in commits of their own, of each owner one at a time, and small ones in none of them', async () => {
  const inner = memory()
  const inFlight = new Map<string, number>()
  const groups: number[] = []
  let most = 0
  const store: Store = {
    ...inner,
    async commit(plans) {
      const sizes = plans.flatMap(({ calls }) => calls.map(({ output }) => output?.length ?? 0))
      const isLarge = sizes.some((size) => size >= large.length)
      if (!isLarge) return inner.commit(plans)
      groups.push(sizes.length)
      const owner = String(plans[0]?.append.threadId).split('-')[0] ?? ''
      inFlight.set(owner, (inFlight.get(owner) ?? 0) + 1)
      most = Math.max(most, ...inFlight.values())
      // Long enough for all others to come.
      await new Promise((resolve) => {
        setImmediate(resolve)
      })
      inFlight.set(owner, (inFlight.get(owner) ?? 0) - 1)
      return inner.commit(plans)
    },
  }
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, model: model(), tools })
  const threads = ['ann-1', 'ann-2', 'ben-1'].map((id) => `${id}-0123456789abcdef`)
  await Promise.all(threads.map((threadId) => ask(holdfast, threadId)))
  await holdfast.settled()
  expect(groups).toEqual(Array.from({ length: 9 }, () => 1))
  expect(most).toBe(1)
  for (const threadId of threads) {
    const page = await store.readPage({
      threadId,
      limit: 1,
      before: null,
      live: 'include',
      results: 'full',
    })
    const turn = page?.messages.at(-1)
    if (turn?.role !== 'assistant') throw new Error('There is no answer.')
    expect(callsOf(turn).map((call) => call.state)).toEqual(['succeeded', 'succeeded', 'succeeded'])
    expect(turn.progress).toMatchObject({ ending: { kind: 'completed' } })
  }
  await holdfast.close()
})

it('[OP7 LG3a] threads that somebody has locked keep no other from storing a large result', async () => {
  const inner = memory()
  let isLocked = true
  const isHeld = (threadId: string) => isLocked && threadId.startsWith('l')
  const store: Store = {
    ...inner,
    async commit(plans) {
      const results = plans.filter(({ calls }) => calls.length > 0)
      // As PostgreSQL answers where a row is locked: the commit is skipped.
      if (results.some(({ append }) => isHeld(append.threadId))) {
        return plans.map(() => ({ kind: 'busy' }))
      }
      return inner.commit(plans)
    },
  }
  const holdfast = createHoldfast({ store, recoverEveryMs: 0, model: model(), tools })
  const locked = Array.from({ length: 6 }, (_, nth) => `l-${nth}-0123456789abcdef`)
  for (const threadId of locked) await ask(holdfast, threadId)
  const free = 'ben-0123456789abcdef'
  await ask(holdfast, free)
  await holdfast.settled(free)
  expect(holdfast.running().toSorted()).toEqual(locked)
  isLocked = false
  await holdfast.settled()
  for (const threadId of [free, ...locked]) {
    const page = await holdfast.messages(threadId)
    expect(JSON.stringify(page?.results)).toContain('done')
  }
  await holdfast.close()
})
