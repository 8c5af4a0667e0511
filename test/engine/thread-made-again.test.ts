import { tool } from 'ai'
import { callsOf, type Append, memory, type NewEvent, type Store, type ThreadId } from 'holdfast'
import { sqlite } from 'holdfast/sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { commitAppend } from '../../src/store/commit-group.ts'
import { temporaryFile } from '../sqlite/temporary-file.ts'
import { createFixture, type Fixture, gate, type Script } from './fixture.ts'

const stores: Readonly<Record<string, () => Store>> = {
  memory: () => memory(),
  sqlite: () => sqlite(temporaryFile()),
}

/** Another thread under the same id, at the given seq. */
async function makeAgain(
  store: Store,
  threadId: ThreadId,
  seq: number,
  ownerId = 'owner',
): Promise<void> {
  await store.deleteThread(threadId)
  const events = Array.from({ length: seq }, (_, index): NewEvent => ({
    ...{ type: 'message-added', messageId: `new-${index}`, role: 'user', at: 1 },
    parts: [{ type: 'text', text: 'made again' }],
  }))
  const create = { ownerId, title: '', at: 1 }
  const { kind } = await commitAppend(store, { threadId, events, expectedSeq: 0, create })
  expect(kind).toBe('appended')
}

const contentOf = (store: Store, threadId: ThreadId) =>
  store.readChanges({ threadId, after: 0, limit: 1_000, results: 'full' })

/** Replaces the thread in the moment before an append that fits is stored: it was planned on the one before. */
function createReplacingStore(inner: Store) {
  let due: ((append: Append) => boolean) | null = null
  let offset = 0
  let after: Awaited<ReturnType<typeof contentOf>> = null
  const store: Store = {
    ...inner,
    async commit(commits) {
      const found = commits.find(({ append }) => due?.(append) === true)?.append
      if (found !== undefined) {
        due = null
        const { threadId } = found
        const { seq } = (await inner.readThread(threadId)) ?? expect.fail('no thread')
        await makeAgain(inner, threadId, seq + offset)
        after = await contentOf(inner, threadId)
      }
      return inner.commit(commits)
    },
  }
  return {
    store,
    replaceBefore: (fits: (append: Append) => boolean, by = 0): void => {
      due = fits
      offset = by
    },
    /** What the thread had when it was made again; null: it was not. */
    made: () => after,
  }
}

const anyEvents = ({ events }: Append) => events.length > 0

const guarded = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => 'done' })
const asks: Script = ({ prompt }) =>
  prompt.at(-1)?.role === 'tool' ? [{ text: 'Done.' }] : [{ call: 'guarded', input: {} }]
const answers: Script = ({ index }) => [{ text: `answer ${index}` }]

interface Case {
  readonly script: Script
  readonly prepare?: (fixture: Fixture) => Promise<unknown>
  readonly act: (fixture: Fixture) => Promise<unknown>
}

const callOf = async (fixture: Fixture) => [...callsOf(await fixture.last())][0]?.id ?? ''

const cases: Readonly<Record<string, Case>> = {
  'a decision': {
    script: asks,
    async act(fixture) {
      const { holdfast, threadId } = fixture
      const decisions = [{ toolCallId: await callOf(fixture), decision: 'accept' as const }]
      return holdfast.decide({ threadId, by: 'ann', decisions })
    },
  },
  'an edit': {
    script: answers,
    act: ({ holdfast, threadId }) =>
      holdfast.send({
        ...{ threadId, replaces: 'user-1' },
        message: { id: 'edited', parts: [{ type: 'text', text: 'edited' }] },
      }),
  },
  'an answer that is made anew': {
    script: answers,
    act: ({ holdfast, threadId }) => holdfast.regenerate({ threadId }),
  },
  'another version': {
    script: answers,
    async prepare({ holdfast, threadId }) {
      await holdfast.regenerate({ threadId })
      await holdfast.settled()
    },
    async act({ holdfast, threadId, last }) {
      const shown = await last()
      const hidden = shown.versions?.find(({ id }) => id !== shown.id)
      return holdfast.show(threadId, hidden?.id ?? '')
    },
  },
  feedback: {
    script: answers,
    act: async ({ holdfast, last }) =>
      holdfast.giveFeedback((await last()).id, { by: 'ann', rating: 'up' }),
  },
  'a stop of a turn that waits': {
    script: asks,
    act: ({ holdfast, threadId }) => holdfast.stop(threadId),
  },
  'a result of the host’s own loop': {
    script: asks,
    async act(fixture) {
      const { id } = await fixture.last()
      const [call] = callsOf(await fixture.last())
      return fixture.holdfast.toolCalls.setResult(id, call?.providerCallId ?? '', 'late')
    },
  },
}

describe.each(Object.entries(stores))('a thread that is made again, on %s', (_, open) => {
  it.each(Object.entries(cases))(
    '[OP6 LG1] has nothing of %s that was planned on the one before, though it is at the same seq',
    async (_name, { script, prepare, act }) => {
      const { store, replaceBefore, made } = createReplacingStore(open())
      const fixture = await createFixture(script, { store, tools: { guarded } })
      const { holdfast, threadId } = fixture
      onTestFinished(() => holdfast.close())
      await fixture.runTurn('go')
      await prepare?.(fixture)
      replaceBefore(anyEvents)
      await act(fixture).catch(() => undefined)
      await holdfast.settled()
      expect(made()).not.toBeNull()
      expect(await contentOf(store, threadId)).toEqual(made())
    },
  )

  it.each([
    ['at the same seq', 0],
    ['behind it', -1],
    ['beyond it', 1],
  ])(
    '[OP6 CR2] has nothing of the run of the one before, nor of the turn that follows it: %s',
    async (_name, by) => {
      const begun = gate()
      const done = gate()
      const slow = tool({
        inputSchema: z.object({}),
        async execute() {
          begun.open()
          await done.opened
          return 'done'
        },
      })
      const script: Script = ({ index }) =>
        index === 0 ? [{ call: 'slow', input: {} }] : [{ text: 'Done.' }]
      const { store, replaceBefore, made } = createReplacingStore(open())
      const fixture = await createFixture(script, { store, tools: { slow }, whenBusy: 'queue' })
      const { holdfast, threadId, log } = fixture
      onTestFinished(() => holdfast.close())
      await fixture.send('go')
      await begun.opened
      expect(await fixture.send('and then')).toMatchObject({ kind: 'queued' })
      // The commit that ends the turn and begins the next one: it acquires the lease, over that of its own run.
      replaceBefore(({ lease }) => lease?.kind === 'acquire', by)
      done.open()
      await holdfast.settled()
      expect(made()).not.toBeNull()
      expect(await contentOf(store, threadId)).toEqual(made())
      expect(log.filter(({ type }) => type === 'turn-lost')).toHaveLength(1)
      expect(await holdfast.recover()).toBe(0)
    },
  )

  it.each<[string, (fixture: Fixture) => Promise<unknown>]>([
    ['a deletion', ({ holdfast }) => holdfast.threads.delete('thread-1', { ownerId: 'owner' })],
    ['the deletion of all of its owner', ({ holdfast }) => holdfast.deleteOwner('owner')],
    [
      'metadata',
      ({ holdfast }) =>
        holdfast.threads.update('thread-1', { metadata: { a: 1 } }, { ownerId: 'owner' }),
    ],
    ['a link', ({ holdfast }) => holdfast.shares.create('thread-1', { ownerId: 'owner' })],
    ['the list of links', ({ holdfast }) => holdfast.shares.list('thread-1', { ownerId: 'owner' })],
  ])('[OP6 HT2] gets %s of its former owner in no way', async (_name, act) => {
    const inner = open()
    const shares = inner.shares ?? expect.fail('no links')
    const theirs = { incarnation: '' }
    let isDue = false
    // Between the check of the owner and what follows, it is deleted and created again by somebody else, with a link.
    const store: Store = {
      ...inner,
      async readThread(id) {
        const found = await inner.readThread(id)
        if (!isDue || found === null) return found
        isDue = false
        await makeAgain(inner, id, found.seq, 'another')
        const at = 1
        const link = { id: `shr_${'b'.repeat(32)}`, threadId: id, at, most: 9, unfinishedBefore: 0 }
        await shares.begin(link)
        await shares.finish({ id: link.id, seq: 1, title: '', files: [], calls: [] })
        theirs.incarnation = (await inner.readThread(id))?.incarnation ?? ''
        return found
      },
    }
    const fixture = await createFixture(answers, { store })
    onTestFinished(() => fixture.holdfast.close())
    await fixture.runTurn('go')
    isDue = true
    const result = await act(fixture)
    expect(isDue).toBe(false)
    const thread = await inner.readThread(fixture.threadId)
    expect(thread).toMatchObject({ ...theirs, ownerId: 'another', metadata: {} })
    expect(await shares.list(fixture.threadId)).toHaveLength(1)
    expect(JSON.stringify(result ?? null)).not.toContain('shr_')
  })
})
