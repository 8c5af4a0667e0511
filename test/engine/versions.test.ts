import { tool } from 'ai'
import {
  type Holdfast,
  importThreads,
  memory,
  type Message,
  readImport,
  type Store,
  versionsOf,
} from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { createFixture, type Fixture, gate, type Script, turnOf } from './fixture.ts'

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}

const textOf = (message: Message): string =>
  message.role === 'assistant'
    ? message.steps
        .flatMap(({ parts }) => parts)
        .map((part) => (part.type === 'text' ? part.text : ''))
        .join('')
    : message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const wordsOf = async (fixture: Fixture) => (await fixture.messages()).map(textOf)
const countAnswers: Script = ({ index }) => [{ text: `answer ${index}` }]

async function edit(
  { holdfast, threadId }: Fixture,
  replaces: string,
  text: string,
  id = replaces,
) {
  const message = { id, parts: [{ type: 'text', text }] as const }
  const result = await holdfast.send({ threadId, message, replaces })
  await holdfast.settled()
  return result
}

async function again({ holdfast, threadId }: Fixture, messageId?: string) {
  const named = messageId === undefined ? {} : { messageId }
  const result = await holdfast.regenerate({ threadId, ...named })
  await holdfast.settled()
  return result.kind === 'started' ? result.turnId : ''
}

async function* toPieces(text: string) {
  yield text
}

const lastVersions = async (fixture: Fixture) => versionsOf(await fixture.last())

describe.each(Object.entries(stores))('versions on %s', (_, open) => {
  it('[VR2] beside a turn that runs it is refused at once, although the thread never is as it was read', async () => {
    const opened = open()
    const hold = gate()
    let isStale = false
    const store: Store = {
      ...opened,
      async readPath(threadId, target) {
        const path = await opened.readPath(threadId, target)
        return isStale && path !== null ? { ...path, seq: path.seq - 1 } : path
      },
    }
    const fixture = await createFixture(
      ({ index }) => (index === 2 ? [{ call: 'hold', input: {} }] : [{ text: `answer ${index}` }]),
      {
        store,
        tools: { hold: tool({ inputSchema: z.object({}), execute: () => hold.opened }) },
      },
    )
    const { holdfast, threadId } = fixture
    const first = await fixture.runTurn('question')
    await again(fixture)
    await fixture.send('hold')
    isStale = true
    expect(await holdfast.show(threadId, first.id)).toMatchObject({ kind: 'run-active' })
    hold.open()
    await holdfast.settled()
  })

  it('[VR1] an answer that is made anew is another version, and the model is sent the one that is shown', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    const first = await fixture.runTurn('question')
    const second = await again(fixture)
    const third = await again(fixture)
    const ids = [first.id, second, third]
    expect(await lastVersions(fixture)).toEqual({ ids, shown: third })
    const shown = await fixture.holdfast.show(fixture.threadId, first.id)
    expect(shown).toMatchObject({
      kind: 'shown',
      messageId: first.id,
      version: first.id,
      effects: [],
    })
    expect(await lastVersions(fixture)).toEqual({ ids, shown: first.id })
    await fixture.runTurn('and then?')
    const prompt = JSON.stringify(fixture.calls.at(-1)?.prompt)
    expect(prompt).toContain('answer 0')
    expect(prompt).not.toMatch(/answer [12]/)
    // It is there already: nothing is written.
    const { seq } = (await fixture.store.readThread(fixture.threadId)) ?? { seq: 0 }
    const twice = await fixture.holdfast.show(fixture.threadId, first.id)
    expect(twice).toMatchObject({ kind: 'shown', messageId: first.id, seq })
  })

  it('[VR1 OP7] a message has a hundred versions at most, and of the next one nothing is stored', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    await fixture.runTurn('question')
    for (let nth = 1; nth < 100; nth++) await again(fixture)
    expect((await lastVersions(fixture))?.ids).toHaveLength(100)
    const before = await fixture.store.readThread(fixture.threadId)
    await expect(again(fixture)).rejects.toMatchObject({
      code: 'conflict',
      message: 'This message has 100 versions already. Nothing was stored.',
    })
    expect(await fixture.store.readThread(fixture.threadId)).toEqual(before)
    // The message before it has none of them.
    await edit(fixture, 'user-1', 'another question')
    expect(await wordsOf(fixture)).toEqual(['another question', 'answer 100'])
  })

  it('[VR2 IN2] a message that is queued while a version is looked for is not left behind', async () => {
    const opened = open()
    let between = async () => {}
    const store: Store = {
      ...opened,
      async readPath(threadId, target) {
        const work = between
        between = async () => {}
        await work()
        return opened.readPath(threadId, target)
      },
    }
    const hold = gate()
    const fixture = await createFixture(
      ({ index }) =>
        index === 1
          ? [
              { call: 'hold', input: {} },
              { call: 'remove', input: {} },
            ]
          : [{ text: `answer ${index}` }],
      {
        store,
        tools: {
          hold: tool({ inputSchema: z.object({}), execute: () => hold.opened }),
          remove: tool({ inputSchema: z.object({}), execute: () => 'removed' }),
        },
        policies: { remove: { approval: 'always' } },
      },
    )
    const { holdfast, threadId } = fixture
    await fixture.runTurn('question')
    const message = { id: 'user-1', parts: [{ type: 'text', text: 'remove it' }] as const }
    await holdfast.send({ threadId, message, replaces: 'user-1' })
    between = async () => {
      expect((await fixture.send('and then?', 'queued')).kind).toBe('queued')
      hold.open()
      await holdfast.settled()
    }
    const [shown] = await fixture.messages()
    expect(await holdfast.show(threadId, 'user-1@1')).toMatchObject({ kind: 'run-active' })
    expect((await fixture.messages())[0]).toEqual(shown)
    expect((await store.readThread(threadId))?.queue).toMatchObject([{ id: 'queued' }])
  })

  it('[VR1] an edit keeps the message with all that was below it, also under its own id', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    await fixture.runTurn('one')
    await fixture.runTurn('two')
    const [, , old] = await fixture.messages()
    await edit(fixture, 'user-2', 'two, better')
    await edit(fixture, 'user-1', 'another one', 'user-9')
    expect(await wordsOf(fixture)).toEqual(['another one', 'answer 3'])
    await fixture.holdfast.show(fixture.threadId, `user-2@${old?.seq}`)
    expect(await wordsOf(fixture)).toEqual(['one', 'answer 0', 'two', 'answer 1'])
    const [top, , below] = await fixture.messages()
    expect(versionsOf(top as Message)?.ids).toEqual([`user-1@1`, expect.stringMatching(/^user-9@/)])
    expect(versionsOf(below as Message)).toEqual({
      ids: [`user-2@${old?.seq}`, expect.stringMatching(/^user-2@/)],
      shown: `user-2@${old?.seq}`,
    })
    // The version that an edit made of an edit: its siblings are all there are.
    await edit(fixture, 'user-2', 'two, best')
    expect(versionsOf((await fixture.messages())[2] as Message)?.ids).toHaveLength(3)
  })

  it('[VR1] an older answer that is made anew keeps what followed it', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    const first = await fixture.runTurn('one')
    await fixture.runTurn('two')
    await again(fixture, first.id)
    expect(await wordsOf(fixture)).toEqual(['one', 'answer 2'])
    await fixture.holdfast.show(fixture.threadId, 'user-2')
    expect(await wordsOf(fixture)).toEqual(['one', 'answer 0', 'two', 'answer 1'])
  })

  it('[VR1] an export has every version, and an import of it brings them all', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    const first = await fixture.runTurn('one')
    await again(fixture)
    await edit(fixture, 'user-1', 'another')
    let text = ''
    for await (const piece of fixture.holdfast.export({ threadId: fixture.threadId })) text += piece
    const { threads } = JSON.parse(text) as {
      threads: { messages: object[]; hiddenMessages: { id: string; follows: string | null }[] }[]
    }
    const [thread] = threads
    expect(thread?.messages).toHaveLength(2)
    expect(thread?.hiddenMessages.map(({ follows }) => follows)).toEqual([
      null,
      'user-1@1',
      'user-1@1',
    ])
    expect(thread?.hiddenMessages[1]?.id).toBe(first.id)
    const other = memory()
    await importThreads(other, readImport(toPieces(text)), { ownerId: 'owner' })
    const page = await other.readPage({
      ...{ threadId: fixture.threadId, limit: 9, before: null },
      ...{ live: 'include', results: 'full' },
    })
    expect(page?.messages.map(({ metadata }) => metadata)).toEqual([undefined, undefined])
    expect(page?.messages.map(textOf)).toEqual(['answer 2', 'another'])
    // The copy can be gone back in, as the origin can.
    const copy = await createFixture(countAnswers, { store: other })
    const [question] = await copy.messages()
    const [before] = versionsOf(question as Message)?.ids ?? []
    await copy.holdfast.show(copy.threadId, before ?? '')
    expect(await wordsOf(copy)).toEqual(['one', 'answer 1'])
    await copy.holdfast.show(copy.threadId, first.id)
    expect(await wordsOf(copy)).toEqual(['one', 'answer 0'])
  })

  it('[VR4] a fork has the same messages up to one, and goes its own way', async () => {
    const fixture = await createFixture(countAnswers, { store: open() })
    const first = await fixture.runTurn('one')
    await again(fixture)
    await fixture.runTurn('two')
    const [, shown] = await fixture.messages()
    const { holdfast } = fixture
    const { threads } = holdfast
    const forked = await threads.fork(fixture.threadId, {
      messageId: shown?.id ?? '',
      title: 'Mine',
    })
    if (forked.kind !== 'forked') throw new Error(forked.kind)
    const { thread } = forked
    expect(thread).toMatchObject({
      ownerId: 'owner',
      title: 'Mine',
      forkedFrom: { threadId: fixture.threadId, messageId: shown?.id },
    })
    const page = await fixture.holdfast.messages(thread.id, { format: 'ledger' })
    const [answer, question] = page?.results ?? []
    expect(question).toMatchObject({ id: 'user-1', parts: [{ text: 'one' }] })
    const { id, seq, lastSeq, versions, ...rest } = turnOf(answer ?? null)
    const { id: _, seq: __, lastSeq: ___, versions: old, ...source } = turnOf(shown ?? null)
    expect(rest).toEqual(source)
    expect([versions, old?.length]).toEqual([undefined, 2])
    expect(id).not.toBe(shown?.id)
    const message = { id: 'mine', parts: [{ type: 'text', text: 'my way' }] as const }
    await holdfast.send({ threadId: thread.id, message })
    await holdfast.settled()
    expect(JSON.stringify(fixture.calls.at(-1)?.prompt)).not.toContain('two')
    await threads.delete(fixture.threadId)
    expect((await fixture.holdfast.messages(thread.id))?.results).toHaveLength(4)
    expect((await threads.get(thread.id))?.forkedFrom?.threadId).toBe(fixture.threadId)
    expect(await fixture.store.findTurn(first.id)).toBeNull()
  })
})

const charge = (run: () => void): Parameters<typeof createFixture>[1] => ({
  tools: {
    charge: tool({
      inputSchema: z.object({}),
      execute: async () => {
        run()
        return 'charged'
      },
    }),
    look: tool({ inputSchema: z.object({}), execute: async () => 'seen' }),
  },
  policies: { look: { repeatable: true } },
})

const callBoth: Script = ({ index }) =>
  index % 2 === 0
    ? [
        { call: 'charge', input: {} },
        { call: 'look', input: {} },
      ]
    : [{ text: 'done' }]

describe('switching', () => {
  it('[VR3] undoes no effect, and says which calls of the path that is left stay done', async () => {
    let charged = 0
    const fixture = await createFixture(
      callBoth,
      charge(() => charged++),
    )
    const first = await fixture.runTurn('charge my card')
    const second = await again(fixture)
    const result = await fixture.holdfast.show(fixture.threadId, first.id)
    if (result.kind !== 'shown') throw new Error(result.kind)
    expect(result.effects).toMatchObject([
      { messageId: second, name: 'charge', state: 'succeeded' },
    ])
    expect(charged).toBe(2)
  })

  it('[VR2] is refused while a turn runs, and supersedes one that waits in the same commit', async () => {
    const { opened, open } = gate()
    const begun = gate()
    const fixture = await createFixture(
      ({ index }) =>
        index === 2
          ? [{ call: 'hold', input: {} }]
          : index === 4
            ? [{ call: 'ask', input: {} }]
            : [{ text: `answer ${index}` }],
      {
        tools: {
          hold: tool({
            inputSchema: z.object({}),
            execute: async () => {
              begun.open()
              await opened
              return 'held'
            },
          }),
          ask: tool({ inputSchema: z.object({}), execute: async () => 'asked' }),
        },
        policies: { ask: { approval: 'always' } },
      },
    )
    const first = await fixture.runTurn('one')
    const second = await again(fixture)
    const { holdfast, threadId } = fixture
    const running = await fixture.send('hold')
    await begun.opened
    const turnId = running.kind === 'started' ? running.turnId : ''
    expect(await holdfast.show(threadId, first.id)).toEqual({ kind: 'run-active', turnId })
    open()
    await holdfast.settled()
    const waiting = await fixture.runTurn('ask')
    expect(waiting.progress.status).toBe('waiting')
    expect((await holdfast.show(threadId, first.id)).kind).toBe('shown')
    const left = turnOf(await fixture.store.readMessage(threadId, waiting.id))
    expect(left.progress).toMatchObject({ status: 'ended', ending: { kind: 'superseded' } })
    // A late decision is refused, and nothing runs.
    const [step] = left.steps
    const call = step?.parts.find((part) => part.type === 'call')
    const [late] = await holdfast.decide({
      threadId,
      by: 'ana',
      decisions: [{ toolCallId: call?.id ?? '', decision: 'accept' }],
    })
    expect(late).toMatchObject({ kind: 'not-waiting', state: 'denied' })
    expect((await lastVersions(fixture))?.shown).toBe(first.id)
    await holdfast.show(threadId, second)
    expect((await wordsOf(fixture)).slice(0, 2)).toEqual(['one', 'answer 1'])
  })

  it('[VR1] knows no message of another thread, none that is not there, and no other owner', async () => {
    const fixture = await createFixture(countAnswers)
    const first = await fixture.runTurn('one')
    await again(fixture)
    const { holdfast, threadId } = fixture
    await holdfast.threads.create({ id: 'other', ownerId: 'owner' })
    expect(await holdfast.show('other', first.id)).toEqual({ kind: 'no-message' })
    expect(await holdfast.show(threadId, 'nobody')).toEqual({ kind: 'no-message' })
    expect(await holdfast.show('nowhere', first.id)).toEqual({ kind: 'no-thread' })
    expect(await holdfast.show(threadId, first.id, { ownerId: 'ben' })).toEqual({
      kind: 'no-thread',
    })
    await expect(holdfast.show(threadId, '')).rejects.toMatchObject({ code: 'bad-id' })
  })

  it('[VR2] two who switch at once are one after the other, and both get what they asked for', async () => {
    const fixture = await createFixture(countAnswers)
    const first = await fixture.runTurn('one')
    const second = await again(fixture)
    await again(fixture)
    const { holdfast, threadId } = fixture
    const results = await Promise.all([
      holdfast.show(threadId, first.id),
      holdfast.show(threadId, second),
    ])
    expect(results.map(({ kind }) => kind)).toEqual(['shown', 'shown'])
    expect([first.id, second]).toContain((await lastVersions(fixture))?.shown)
    expect(await fixture.messages()).toHaveLength(2)
  })
})

describe('a fork', () => {
  const fork = (holdfast: Holdfast, ...given: Parameters<Holdfast['threads']['fork']>) =>
    holdfast.threads.fork(...given)

  it('[VR4] copies no turn that runs or waits, and says so when one is named', async () => {
    const fixture = await createFixture(
      ({ index }) => (index === 1 ? [{ call: 'ask', input: {} }] : [{ text: 'answer' }]),
      {
        tools: { ask: tool({ inputSchema: z.object({}), execute: async () => 'asked' }) },
        policies: { ask: { approval: 'always' } },
      },
    )
    await fixture.runTurn('one')
    const waiting = await fixture.runTurn('two')
    const { holdfast, threadId } = fixture
    expect(await fork(holdfast, threadId, { messageId: waiting.id })).toEqual({
      kind: 'run-active',
      turnId: waiting.id,
    })
    const forked = await fork(holdfast, threadId)
    if (forked.kind !== 'forked') throw new Error(forked.kind)
    const page = await holdfast.messages(forked.thread.id, { format: 'ledger' })
    expect(page?.results.map(textOf)).toEqual(['two', 'answer', 'one'])
  })

  it('[VR4] with an id that exists is that thread, and is never another owner’s', async () => {
    const fixture = await createFixture(countAnswers)
    await fixture.runTurn('one')
    const { holdfast, threadId } = fixture
    await holdfast.threads.create({ id: 'mine', ownerId: 'owner', title: 'Mine' })
    await holdfast.threads.create({ id: 'bens', ownerId: 'ben' })
    const exists = await fork(holdfast, threadId, { id: 'mine' })
    expect(exists).toMatchObject({ kind: 'exists', thread: { title: 'Mine', seq: 0 } })
    expect(await fork(holdfast, threadId, { id: 'bens' })).toEqual({ kind: 'taken' })
    expect(await fork(holdfast, threadId, { messageId: 'nobody' })).toEqual({ kind: 'no-message' })
    expect(await fork(holdfast, 'nowhere')).toEqual({ kind: 'no-thread' })
    expect(await fork(holdfast, threadId, { ownerId: 'ben' })).toEqual({ kind: 'no-thread' })
    const [first, second] = await Promise.all([
      fork(holdfast, threadId, { id: 'twice' }),
      fork(holdfast, threadId, { id: 'twice' }),
    ])
    expect([first?.kind, second?.kind].toSorted()).toEqual(['exists', 'forked'])
  })
})
