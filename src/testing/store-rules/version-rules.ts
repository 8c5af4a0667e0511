import assert from 'node:assert/strict'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { versionsOf } from '../../core/versions.ts'
import type { Store } from '../../store/store.ts'
import { createRandomTree, readShown, replace, show, textOf } from './random-tree.ts'
import { newestFirst, nothing, readAllPages, readChanges, readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  idsOf,
  messageAdded,
  started,
  text,
  thread,
  turn,
  user,
} from './thread-script.ts'

const readWords = async (store: Store) => (await readShown(store)).map(textOf)

const second = parseMessageId('second')
const third = parseMessageId('third')

/** Withdraws what is shown in the place of a hidden message, and shows that one again. */
async function withdraw(store: Store, replaced: Message | undefined) {
  const path = await store.readPath(thread, `${replaced?.id}@${replaced?.seq}`)
  assert.ok(path !== null)
  const messageIds = path.hide.map(({ id }) => id)
  const withdrawn: Message[] = []
  for (const id of messageIds) {
    const message = await store.readMessage(thread, id)
    if (message !== null) withdrawn.push(message)
  }
  const places = path.show.map(({ seq }) => seq)
  const events = [
    { type: 'messages-retired', messageIds, at },
    { type: 'messages-shown', places, at },
  ] as const
  await append(store, events, { withdrawn })
}

export const versionRules: readonly StoreRule[] = [
  {
    id: 'VR1',
    claim: 'keeps what an edit and a new answer replace as versions, each with the list of all',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      await append(first, [messageAdded('Hi'), started(), ...text('One'), ended()])
      await replace(first, turn, second, 'Two')
      await replace(first, second, third, 'Three')
      const store = await reopen(first)
      const [question, answer] = await readShown(store)
      assert.ok(question !== undefined && answer !== undefined)
      assert.equal(versionsOf(question), undefined)
      assert.deepEqual(versionsOf(answer), { ids: [turn, second, third], shown: third })
      const hidden = await store.readMessage(thread, turn)
      assert.ok(hidden !== null)
      assert.deepEqual(versionsOf(hidden), { ids: [turn, second, third], shown: turn })
      await replace(store, user, user, 'Hello')
      const [edited] = await readShown(store)
      assert.ok(edited !== undefined)
      const ids = [`${user}@${question.seq}`, `${user}@${edited.seq}`]
      assert.deepEqual(versionsOf(edited), { ids, shown: ids[1] })
      assert.deepEqual(await readWords(store), ['Hello'])
    },
  },
  {
    id: 'VR1',
    claim: 'shows a version again with the thread below it as it was left, and so in every read',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      const later = parseMessageId('later')
      await append(first, [
        messageAdded('Hi'),
        started(),
        ...text('One'),
        ended(),
        messageAdded('More', later),
      ])
      await replace(first, turn, second, 'Two')
      await show(first, turn)
      const store = await reopen(first)
      assert.deepEqual(await readWords(store), ['Hi', 'One', 'More'])
      for (const limit of [1, 2, 3]) {
        assert.deepEqual(idsOf(await readAllPages(store, limit)), [later, turn, user])
      }
      const { changes } = await readChanges(store, 0)
      const view = foldThread(nothing, changes)
      const { seq } = await readPage(store)
      assert.deepEqual([view.seq, view.outdatedAt], [seq, seq])
      await show(store, second)
      assert.deepEqual(await readWords(store), ['Hi', 'Two'])
      // By any message on the hidden path.
      await show(store, later)
      assert.deepEqual(await readWords(store), ['Hi', 'One', 'More'])
      assert.deepEqual(await store.readPath(thread, later).then((path) => path?.show), [])
    },
  },
  {
    id: 'VR1',
    claim: 'distinguishes versions of one id by their seqs, and returns the shown one by its id',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      await append(first, [messageAdded('One')])
      await replace(first, user, user, 'Two')
      await replace(first, user, user, 'Three')
      const [{ versions = [] } = {}] = await readShown(first)
      const [one, two] = versions
      assert.ok(one !== undefined && two !== undefined)
      await show(first, `${user}@${one.seq}`)
      const store = await reopen(first)
      assert.deepEqual(await readWords(store), ['One'])
      const found = await store.readMessage(thread, user)
      assert.ok(found !== null)
      assert.equal(textOf(found), 'One')
      await show(store, `${user}@${two.seq}`)
      assert.deepEqual(await readWords(store), ['Two'])
      assert.deepEqual((await readShown(store))[0]?.versions, versions)
    },
  },
  {
    id: 'VR1',
    claim: 'never shows a withdrawn message again, nor one that does not exist',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const late = parseMessageId('late')
      await append(store, [
        messageAdded('Hi'),
        started(),
        ...text('One'),
        ended(),
        messageAdded('Late', late),
      ])
      await append(store, [{ type: 'messages-retired', messageIds: [late], at }])
      await replace(store, turn, second, 'Two')
      assert.equal(await store.readPath(thread, late), null)
      assert.equal(await store.readPath(thread, 'nobody'), null)
      assert.equal(await store.readPath(thread, `${turn}@99`), null)
      assert.equal(await store.readPath('nowhere', turn), null)
      await show(store, turn)
      assert.deepEqual(await readWords(store), ['Hi', 'One'])
    },
  },
  {
    id: 'VR1',
    claim:
      'has what was withdrawn as a version of no other, where what it had replaced is shown again',
    async check({ open, reopen }) {
      const fourth = parseMessageId('fourth')
      for (const { target, ids } of [
        { target: second, ids: [third, fourth] },
        { target: user, ids: [user, user] },
        { target: user, ids: [third, third] },
      ]) {
        const first = await open()
        await createThread(first)
        await append(first, [messageAdded('Hi'), started(), ...text('One'), ended()])
        await replace(first, turn, second, 'Two')
        const before = await readShown(first)
        for (const id of ids) {
          await replace(first, target, id, 'Other')
          await withdraw(
            first,
            before.find((message) => message.id === target),
          )
        }
        const store = await reopen(first)
        assert.deepEqual(await readShown(store), before)
        const hidden = await store.readMessage(thread, turn)
        assert.ok(hidden !== null)
        assert.deepEqual(versionsOf(hidden), { ids: [turn, second], shown: turn })
      }
    },
  },
  {
    id: 'VR2',
    claim: 'agrees with an independent walk over a random tree, at every page size',
    async check({ open, reopen }) {
      for (const seed of [1, 2, 3]) await checkTree(await open(), reopen, seed)
    },
  },
  {
    id: 'VR2',
    claim: 'goes on from a cursor with what is shown, where another version is shown meanwhile',
    async check({ open }) {
      for (const seed of [4, 5, 6]) await checkCursors(await open(), seed)
    },
  },
]

async function checkTree(first: Store, reopen: (store: Store) => Promise<Store>, seed: number) {
  const tree = createRandomTree(first, seed)
  await createThread(first)
  for (let step = 0; step < 40; step++) await tree.grow()
  const store = await reopen(first)
  const words = tree.words()
  for (let limit = 1; limit <= words.length + 1; limit++) {
    assert.deepEqual((await readAllPages(store, limit)).map(textOf), words.toReversed())
    const forward = await readAllPages(store, limit, { order: 'oldest-first' })
    assert.deepEqual(forward.map(textOf), words)
  }
  // A reader of the page that follows from there misses nothing.
  const page = await readPage(store)
  const { changes } = await readChanges(store, page.seq)
  const view = foldThread({ seq: page.seq, messages: page.messages.toReversed() }, changes)
  assert.deepEqual(newestFirst(view), page.messages)
}

/** A cursor is a place, so it stays one when other messages are shown: what is shown before it comes next, each once. */
async function checkCursors(store: Store, seed: number) {
  const tree = createRandomTree(store, seed)
  await createThread(store)
  for (let step = 0; step < 30; step++) await tree.grow()
  for (let limit = 1; limit <= 4; limit++) {
    for (const order of ['newest-first', 'oldest-first'] as const) {
      const { messages } = await readPage(store, { limit, order })
      const cursor = messages.at(-1)?.seq ?? null
      await tree.switch()
      const shown = await readShown(store)
      const rest = shown.filter(({ seq }) =>
        order === 'newest-first' ? seq < (cursor ?? 0) : seq > (cursor ?? 0),
      )
      const expected = order === 'newest-first' ? rest.toReversed() : rest
      assert.deepEqual(await readAllPages(store, limit, { order }, cursor), expected)
    }
  }
}
