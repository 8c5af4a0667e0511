import { describe, expect, it } from 'vitest'
import { createFixture, messageId } from './fixture.ts'

const message = messageId('turn-1')

async function repository() {
  const fixture = await createFixture(() => [{ text: 'ok' }])
  const { threadId } = fixture
  const { toolCalls } = fixture.holdfast
  const upsert = (callId: string, args: object = {}, isPartial = true, name = 'search') =>
    toolCalls.upsert({
      threadId,
      messageId: message,
      callId,
      name,
      arguments: args as never,
      isPartial,
    })
  const list = async (include?: 'all') =>
    (await toolCalls.getByMessage(message, include)).toolCalls.map(
      ({ providerCallId, name, arguments: args, result, isPartial, state }) => ({
        id: providerCallId,
        name,
        args,
        result,
        isPartial,
        state,
      }),
    )
  return { ...fixture, toolCalls, upsert, list }
}

describe('the tool-call repository', () => {
  it('[CL11] keeps one row per message and call id, in call order', async () => {
    const { upsert, list } = await repository()
    await upsert('b', { q: 1 })
    await upsert('a', { q: 2 })
    await upsert('b', { q: 'whole' }, false, 'search_notes')
    expect(await list()).toMatchObject([
      { id: 'b', name: 'search_notes', args: { q: 'whole' }, state: 'ready' },
      { id: 'a', name: 'search', args: { q: 2 }, state: 'streaming' },
    ])
  })

  it('[CL11] sets results, and changes nothing for a call it does not know', async () => {
    const { upsert, list, toolCalls, store, threadId } = await repository()
    await upsert('a', {}, false)
    expect(await toolCalls.setResult(message, 'a', 0)).toBe(true)
    expect(await list()).toMatchObject([{ result: 0, isPartial: false, state: 'succeeded' }])
    const { seq } = (await store.readThread(threadId)) ?? { seq: -1 }
    expect(await toolCalls.setResult(message, 'nope', 1)).toBe(false)
    expect(await toolCalls.setResult(messageId('nowhere'), 'a', 1)).toBe(false)
    expect(await toolCalls.setResult(message, 'a', 2)).toBe(false)
    expect((await store.readThread(threadId))?.seq).toBe(seq)
    await upsert('a', { late: true })
    expect(await list()).toMatchObject([{ args: {}, result: 0 }])
  })

  it('[CL11] marks one or all complete, touching only open ones', async () => {
    const { upsert, list, toolCalls } = await repository()
    await upsert('a', {}, false)
    await upsert('b', {}, false)
    await upsert('c')
    await toolCalls.setResult(message, 'a', 'A')
    expect(await toolCalls.markComplete(message, 'b')).toBe(true)
    expect(await toolCalls.markComplete(message, 'b')).toBe(false)
    expect(await toolCalls.markAllComplete(message)).toBe(1)
    expect(await list()).toMatchObject([
      { id: 'a', result: 'A', isPartial: false },
      { id: 'b', isPartial: false },
      { id: 'c', isPartial: false },
    ])
    expect((await toolCalls.getByMessage(message)).isComplete).toBe(true)
  })

  it('[CL11 CL9] closes what never finished, and the default list leaves it out', async () => {
    const { upsert, list, toolCalls, runTurn } = await repository()
    await upsert('a', {}, false)
    await upsert('b')
    await toolCalls.setResult(message, 'a', 'A')
    expect(await toolCalls.cleanupIncomplete(message)).toBe(1)
    expect(await list()).toMatchObject([{ id: 'a' }])
    expect(await list('all')).toMatchObject([
      { id: 'a', state: 'succeeded' },
      { id: 'b', state: 'interrupted', isPartial: false },
    ])
    // Nobody said that a server stopped (ST3a).
    const { toolCalls: all } = await toolCalls.getByMessage(message, 'all')
    expect(all[1]).toMatchObject({ cause: 'no-result', error: 'No result: none came.' })
    // The thread goes on.
    expect((await runTurn('next')).progress).toMatchObject({ ending: { kind: 'completed' } })
  })

  it('[CL11] loses nothing when many write at once', async () => {
    const { upsert, list } = await repository()
    await Promise.all(Array.from({ length: 20 }, (_, index) => upsert(`call-${index % 10}`)))
    expect((await list()).map(({ id }) => id).toSorted()).toEqual(
      Array.from({ length: 10 }, (_, index) => `call-${index}`),
    )
  })
})
