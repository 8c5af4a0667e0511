import { expect, it } from 'vitest'
import { call, createFixture, echo, statesOf, textOf, tools } from './fixture.ts'

it('[LG8] never splits a surrogate pair between two commits', async () => {
  const fixture = await createFixture(() => [{ text: '👋🏽🌍', pieces: 6 }, { waitMs: 1 }])
  const seen: string[] = []
  await fixture.send('go')
  await fixture.until(({ messages }) => {
    const turn = messages.at(-1)
    if (turn?.role !== 'assistant') return false
    seen.push(textOf(turn).join(''))
    return turn.progress.status === 'ended'
  })
  expect(seen.at(-1)).toBe('👋🏽🌍')
  for (const text of seen) expect(text.isWellFormed()).toBe(true)
})

it('[LG8] stores arguments as they arrive, and a call that came at once as one event', async () => {
  const streamed = { call: 'echo', input: { value: 'slowly' }, streamed: true } as const
  const fixture = await createFixture(
    ({ index }) =>
      index === 0 ? [{ ...streamed, pauseMs: 80 }, { waitMs: 40 }, streamed] : [{ text: 'ok' }],
    { tools: tools() },
  )
  const seen: string[] = []
  const following = (async () => {
    for await (const { changes } of fixture.holdfast.subscribe(fixture.threadId, 0)) {
      for (const change of changes) {
        if (change.kind !== 'event') continue
        seen.push(change.event.type)
        if (change.event.type === 'turn-ended') return
      }
    }
  })()
  await fixture.runTurn('go')
  await following
  const ofCalls = seen.filter((type) => /^call-(announced|input-appended|recorded)$/.test(type))
  expect(ofCalls).toEqual([
    'call-announced',
    'call-input-appended',
    'call-input-appended',
    'call-recorded',
    'call-recorded',
  ])
})

it('works with a plain AI SDK tool and no options at all', async () => {
  const fixture = await createFixture(
    ({ index }) => (index === 0 ? [call('x')] : [{ text: 'y' }]),
    {
      tools: { echo },
    },
  )
  expect(statesOf(await fixture.runTurn('go'))).toEqual(['succeeded'])
})
