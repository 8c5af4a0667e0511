import { importThreads, memory, readImport, type Store } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { createFixture, echo, gate, type Script } from './fixture.ts'

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}

const answering: Script = ({ index }) => [{ text: `answer ${index}` }]
const by = 'owner'

async function* toPieces(text: string) {
  yield text
}

describe.each(Object.entries(stores))('feedback on %s', (_, open) => {
  it('[FK4] is in the metadata of its message, in pages and live, and is never sent to a model', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast, threadId } = fixture
    const { id } = await fixture.runTurn('question')
    const view = fixture.until(({ messages }) =>
      messages.some((message) => 'feedback' in message && message.feedback !== undefined),
    )
    const comment = 'Wrong: it is the other way round.'
    const given = await holdfast.giveFeedback(id, { by, rating: 'down', comment })
    const feedback = { by, rating: 'down', comment, at: expect.any(Number) as number }
    expect(given).toEqual({
      ...{ kind: 'given', messageId: id, feedback },
      seq: (await holdfast.threads.get(threadId))?.seq,
    })
    expect((await view).messages.at(-1)).toMatchObject({ feedback: [feedback] })
    const page = await holdfast.messages(threadId)
    expect(page?.results[0]?.metadata).toEqual({
      feedback: [{ ...feedback, at: expect.any(String) as string }],
    })
    await fixture.runTurn('and then?')
    expect(JSON.stringify(fixture.calls.at(-1)?.prompt)).not.toContain('other way round')
    expect(JSON.stringify(await holdfast.modelMessages(threadId))).not.toContain('other way')
    await holdfast.close()
  })

  it('[FK4] the last word of a person counts, the same again is nothing new, and null takes it back', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast, threadId, log } = fixture
    const { id } = await fixture.runTurn('question')
    const first = await holdfast.giveFeedback(id, { by, rating: 'up' })
    const twice = await holdfast.giveFeedback(id, { by, rating: 'up' })
    expect(twice).toEqual(first)
    await holdfast.giveFeedback(id, { by: 'operator', rating: 'down', comment: 'x'.repeat(2_000) })
    await holdfast.giveFeedback(id, { by, rating: 'up', comment: 'Thanks' })
    expect((await fixture.last()).feedback).toMatchObject([
      { by: 'operator', rating: 'down' },
      { by, rating: 'up', comment: 'Thanks' },
    ])
    const back = await holdfast.giveFeedback(id, { by, rating: null })
    expect(back).toMatchObject({ kind: 'given', feedback: null })
    await holdfast.giveFeedback(id, { by: 'operator', rating: null })
    expect(await fixture.last()).not.toHaveProperty('feedback')
    expect((await holdfast.messages(threadId))?.results[0]).not.toHaveProperty('metadata')
    const told = log.filter((event) => event.type === 'feedback-given')
    expect(told.map(({ by: who, rating }) => [who, rating])).toEqual([
      ...[
        [by, 'up'],
        ['operator', 'down'],
        [by, 'up'],
        [by, null],
        ['operator', null],
      ],
    ])
    expect(told[2]).toMatchObject({ ownerId: 'owner', threadId, turnId: id })
    // Words of people are content: a hook may ask for them, and a log that writes the event does not have them.
    expect(told[2]?.comment?.()).toBe('Thanks')
    expect(JSON.stringify(told)).not.toContain('Thanks')
    await holdfast.close()
  })

  it('[FK4] is kept with a version that is hidden, with what is exported and imported, and is not copied into a fork', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast, threadId } = fixture
    const { id } = await fixture.runTurn('question')
    await holdfast.regenerate({ threadId })
    await holdfast.settled()
    const comment = 'the first was better'
    await holdfast.giveFeedback(id, { by, rating: 'up', comment })
    expect(await fixture.last()).not.toHaveProperty('feedback')
    await holdfast.show(threadId, id)
    expect((await fixture.last()).feedback).toMatchObject([{ by, rating: 'up', comment }])
    let text = ''
    for await (const piece of holdfast.export({ threadId })) text += piece
    const target = memory()
    await importThreads(target, readImport(toPieces(text)), { ownerId: by })
    const [thread] = (await target.listThreads({ ownerId: by, limit: 5, before: null })).threads
    const imported = await target.readPage({
      ...{ threadId: thread?.id ?? '', limit: 5, before: null },
      ...{ live: 'include', results: 'full' },
    })
    const original = (await fixture.last()).feedback
    expect(imported?.messages[0]).toMatchObject({ feedback: original })
    expect(imported?.messages[0]?.metadata).toBeUndefined()
    const fork = await holdfast.threads.fork(threadId)
    const copied = await holdfast.messages(fork.kind === 'forked' ? fork.thread.id : '')
    expect(copied?.results).toHaveLength(2)
    expect(JSON.stringify(copied)).not.toContain(comment)
    await holdfast.close()
  })

  it('[FK4] is refused while the answer is made, of what is no answer, and where it is malformed', async () => {
    const { opened, open: letGo } = gate()
    const slow = { ...echo, execute: () => opened.then(() => 'done') }
    const fixture = await createFixture(
      ({ index }) =>
        index === 0 ? [{ call: 'slow', input: { value: 1 } }] : [{ text: 'there you are' }],
      { store: open(), tools: { slow } },
    )
    const { holdfast, threadId } = fixture
    const sent = await fixture.send('question', 'mine')
    const turnId = sent.kind === 'started' ? sent.turnId : ''
    const up = { by, rating: 'up' } as const
    expect(await holdfast.giveFeedback(turnId, up)).toEqual({ kind: 'run-active', turnId })
    letGo()
    await holdfast.settled()
    expect(await holdfast.giveFeedback(turnId, up)).toMatchObject({ kind: 'given' })
    expect(await holdfast.giveFeedback('mine', { ...up, threadId })).toEqual({
      kind: 'not-an-answer',
    })
    for (const scope of [{ ownerId: 'ben' }, { threadId: 'another' }]) {
      expect(await holdfast.giveFeedback(turnId, { ...up, ...scope })).toEqual({
        kind: 'no-message',
      })
    }
    expect(await holdfast.giveFeedback('nowhere', up)).toEqual({ kind: 'no-message' })
    for (const bad of [
      ...[
        { rating: 'good' },
        { rating: undefined },
        { comment: 'x'.repeat(2_001) },
        { comment: 1 },
      ],
      { rating: null, comment: 'why' },
    ]) {
      await expect(holdfast.giveFeedback(turnId, { ...up, ...bad } as never)).rejects.toMatchObject(
        {
          code: 'bad-request',
        },
      )
    }
    await expect(holdfast.giveFeedback(turnId, { ...up, by: '' })).rejects.toMatchObject({
      code: 'bad-id',
    })
    await holdfast.close()
  })

  it('[FK4] two who speak at once are both heard', async () => {
    const fixture = await createFixture(answering, { store: open() })
    const { holdfast } = fixture
    const { id } = await fixture.runTurn('question')
    const people = ['a', 'b', 'c', 'd']
    await Promise.all(people.map((who) => holdfast.giveFeedback(id, { by: who, rating: 'up' })))
    expect((await fixture.last()).feedback?.map((each) => each.by).toSorted()).toEqual(people)
    await holdfast.close()
  })
})
