import { memory, parseOwnerId, type RecordedPart, type Store } from 'holdfast'
import { describe, expect, it } from 'vitest'
import { createFixture, type Fixture, messageId, textOf } from './fixture.ts'

/** What a loop of the host's own says; null: it fails before it has said anything. */
async function* loop(answer: string | null): AsyncGenerator<RecordedPart> {
  if (answer === null) throw new Error('refused')
  yield { type: 'text-delta', id: '1', text: answer }
}

/** Records an answer to its end. `replaces`: as an edit, or with the same words as a regenerate. */
async function recordAnswer(
  { holdfast, threadId }: Fixture,
  answer: string | null,
  { id = 'u1', text = 'hello', replaces = null as string | null } = {},
) {
  const recording = await holdfast.record(loop(answer), {
    threadId,
    message: { id: messageId(id), parts: [{ type: 'text', text }] },
    ...(replaces === null ? {} : { replaces: messageId(replaces) }),
  })
  if (recording.kind !== 'recording') throw new Error(recording.kind)
  await recording.stream.cancel()
  await recording.done
  return recording
}

const again = { replaces: 'u1' }
const edit = { replaces: 'u1', text: 'other words' }

const shown = async (fixture: Fixture): Promise<readonly string[]> =>
  (await fixture.messages()).map((message) =>
    message.role === 'assistant'
      ? textOf(message).join('')
      : message.parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
  )

describe('a turn that is withdrawn after the thread has changed', () => {
  it('[RS4 VR1] by a newer answer in its place shows that one and no other', async () => {
    const fixture = await createFixture(() => [])
    await recordAnswer(fixture, 'first answer')
    const refused = await recordAnswer(fixture, null, again)
    await recordAnswer(fixture, 'other answer', again)
    const { seq } = (await fixture.store.readThread(fixture.threadId)) ?? {}
    await refused.withdraw()
    expect(await shown(fixture)).toEqual(['hello', 'other answer'])
    expect((await fixture.store.readThread(fixture.threadId))?.seq).toBe(seq)
  })

  it('[RS4 VR1] by an edit that keeps its id leaves the edited message', async () => {
    const fixture = await createFixture(() => [])
    const refused = await recordAnswer(fixture, null)
    await recordAnswer(fixture, 'other answer', edit)
    await refused.withdraw()
    expect(await shown(fixture)).toEqual(['other words', 'other answer'])
  })

  it.each([again, edit])(
    '[RS4 VR1] by a message behind it leaves both, and nothing of another path joins them: %j',
    async (replaces) => {
      const fixture = await createFixture(() => [])
      await recordAnswer(fixture, 'first answer')
      await recordAnswer(fixture, 'second answer', { id: 'u2', text: 'second' })
      const refused = await recordAnswer(fixture, null, replaces)
      await recordAnswer(fixture, 'third answer', { id: 'u3', text: 'third' })
      const before = await shown(fixture)
      await refused.withdraw()
      expect(await shown(fixture)).toEqual(before)
    },
  )

  it('[RS4 LG1] by a message that is accepted while its thread is about to be deleted keeps that message', async () => {
    const inner = memory()
    let due: (() => Promise<unknown>) | null = null
    const store: Store = {
      ...inner,
      async deleteThread(...which) {
        await due?.()
        return inner.deleteThread(...which)
      },
    }
    const { holdfast, threadId } = await createFixture(() => [{ text: 'answer' }], { store })
    await inner.deleteThread(threadId)
    const message = { id: messageId('u1'), parts: [{ type: 'text', text: 'hello' }] } as const
    const request = { threadId, message, create: { ownerId: parseOwnerId('owner') } }
    const recording = await holdfast.record(loop(null), request)
    if (recording.kind !== 'recording') throw new Error(recording.kind)
    await recording.stream.cancel()
    await recording.done
    due = async () => {
      await holdfast.send({ threadId, message: { ...message, id: messageId('u2') } })
      await holdfast.settled()
    }
    await recording.withdraw()
    const page = await holdfast.messages(threadId)
    expect(page?.results.map(({ role }) => role)).toEqual(['assistant', 'user'])
  })

  it('[RS4] by a message behind it, where it replaced nothing, leaves that message alone', async () => {
    const fixture = await createFixture(() => [])
    const refused = await recordAnswer(fixture, null)
    await recordAnswer(fixture, 'second answer', { id: 'u2', text: 'second' })
    await refused.withdraw()
    expect(await shown(fixture)).toEqual(['second', 'second answer'])
  })

  it('[RS4 VR2] by a person who shows the first answer again changes nothing', async () => {
    const fixture = await createFixture(() => [])
    const first = await recordAnswer(fixture, 'first answer')
    const refused = await recordAnswer(fixture, null, again)
    await fixture.holdfast.show(fixture.threadId, first.turnId)
    await refused.withdraw()
    expect(await shown(fixture)).toEqual(['hello', 'first answer'])
  })

  it.each([again, edit])('[RS4 VR1] twice is withdrawn once: %j', async (replaces) => {
    const fixture = await createFixture(() => [])
    await recordAnswer(fixture, 'first answer')
    const refused = await recordAnswer(fixture, null, replaces)
    await refused.withdraw()
    const { seq } = (await fixture.store.readThread(fixture.threadId)) ?? {}
    await refused.withdraw()
    expect(await shown(fixture)).toEqual(['hello', 'first answer'])
    expect((await fixture.store.readThread(fixture.threadId))?.seq).toBe(seq)
  })
})
