import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { foldThread } from '../../core/fold-thread.ts'
import { parseMessageId, type MessageId, type Seq } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { earlierVersions, type MessageVersion, versionsOf } from '../../core/versions.ts'
import type { Store } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { newestFirst, nothing, readAllPages, readChanges, readPage } from './read-thread.ts'
import type { StoreRule } from './store-rule.ts'
import {
  append,
  at,
  createThread,
  ended,
  say,
  started,
  text,
  thread,
  turn,
  user,
} from './thread-script.ts'

const idsOf = (messages: readonly Message[]) => messages.map((one) => one.id)

/** Oldest first. */
async function readShown(store: Store): Promise<readonly Message[]> {
  return (await readPage(store)).messages.toReversed()
}

const hide = (messages: readonly MessageVersion[], after: Seq): readonly NewEvent[] =>
  messages.length === 0
    ? []
    : [
        {
          type: 'messages-retired',
          messageIds: messages.map(({ id }) => id),
          kept: { after, places: messages.map(({ seq }) => seq) },
          at,
        },
      ]

/** Replaces a message and all behind it, as an edit and an answer that is made anew do. */
async function replace(store: Store, target: MessageId, id: MessageId, words: string) {
  const shown = await readShown(store)
  const from = shown.findIndex((message) => message.id === target)
  const old = shown[from]
  assert.ok(old !== undefined)
  const versionOf = earlierVersions(old)
  const gone = hide(shown.slice(from), shown[from - 1]?.seq ?? 0)
  if (old.role !== 'assistant') {
    await append(store, [...gone, { ...say(words, id), versionOf } as NewEvent])
    return
  }
  const begun = { ...started(id), versionOf } as NewEvent
  await append(store, [...gone, begun, ...text(words, id), ended(id)])
}

/** Shows a version, as the engine does. */
async function show(store: Store, target: string) {
  const path = await store.readPath(thread, target)
  assert.ok(path !== null, `no path to ${target}`)
  const places = path.show.map(({ seq }) => seq)
  const shown = { type: 'messages-shown', places, at } as const
  await append(store, [...hide(path.hide, path.after), shown])
}

/** What is shown, as words. */
const textOf = (message: Message): string =>
  message.role === 'assistant'
    ? message.steps
        .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
        .join('')
    : message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const readWords = async (store: Store) => (await readShown(store)).map(textOf)

const second = parseMessageId('second')
const third = parseMessageId('third')

export const versionRules: readonly StoreRule[] = [
  {
    id: 'VR1',
    claim: 'keeps what an edit and a new answer replace as versions that know of each other',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      await append(first, [say('Hi'), started(), ...text('One'), ended()])
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
      await append(first, [say('Hi'), started(), ...text('One'), ended(), say('More', later)])
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
    claim:
      'tells versions of one id apart by their places, and gives the one that is shown by its id',
    async check({ open, reopen }) {
      const first = await open()
      await createThread(first)
      await append(first, [say('One')])
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
    claim: 'never shows again what was withdrawn, nor what is not there',
    async check({ open }) {
      const store = await open()
      await createThread(store)
      const late = parseMessageId('late')
      await append(store, [say('Hi'), started(), ...text('One'), ended(), say('Late', late)])
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
    id: 'VR2',
    claim: 'agrees with an independent walk over a random tree, at every page size',
    async check({ open, reopen }) {
      for (const seed of [1, 2, 3]) await checkTree(await open(), reopen, seed)
    },
  },
]

/** A message of the oracle: its words are unique, and it knows its own children. */
interface Node {
  readonly words: string
  readonly id: MessageId
  readonly parent: Node | null
  readonly children: Node[]
  /** The child that was shown last. */
  last: Node | null
}

async function checkTree(first: Store, reopen: (store: Store) => Promise<Store>, seed: number) {
  const random = createRandom(seed)
  const root: Node = { words: '', id: '', parent: null, children: [], last: null }
  const all: Node[] = []
  let store = first
  await createThread(store)
  const add = (parent: Node, id: MessageId): Node => {
    const node: Node = { words: `${id} ${all.length}`, id, parent, children: [], last: null }
    parent.children.push(node)
    parent.last = node
    all.push(node)
    return node
  }
  const path = (): readonly Node[] => {
    const found: Node[] = []
    for (let node = root.last; node !== null; node = node.last) found.push(node)
    return found
  }
  const versionIds = new Map<Node, string>()
  for (let step = 0; step < 40; step++) {
    const shown = path()
    const tip = shown.at(-1) ?? root
    const kind = random.int(3)
    if (kind === 0 || shown.length === 0) {
      const isTurn = shown.length % 2 === 1
      const node = add(tip, parseMessageId(`${isTurn ? 'turn' : 'user'}-${step}`))
      const { id, words } = node
      await append(store, isTurn ? [started(id), ...text(words, id), ended(id)] : [say(words, id)])
    } else if (kind === 1) {
      const old = shown[random.int(shown.length)] as Node
      const isTurn = old.id.startsWith('turn')
      // Some edits keep the id.
      const id =
        !isTurn && random.int(2) === 0
          ? old.id
          : parseMessageId(`${isTurn ? 'turn' : 'user'}-${step}`)
      const node = add(old.parent ?? root, id)
      await replace(store, old.id, id, node.words)
    } else {
      const node = all[random.int(all.length)] as Node
      for (let one: Node | null = node; one?.parent != null; one = one.parent) one.parent.last = one
      const target = versionIds.get(node) ?? node.id
      const found = await store.readPath(thread, target)
      assert.ok(found !== null)
      if (found.show.length > 0) await show(store, target)
    }
    const messages = await readShown(store)
    assert.deepEqual(
      messages.map(textOf),
      path().map(({ words }) => words),
    )
    for (const [index, node] of path().entries()) {
      const message = messages[index] as Message
      const isUser = message.role !== 'assistant'
      versionIds.set(node, isUser ? `${message.id}@${message.seq}` : message.id)
      const count = node.parent?.children.length ?? 0
      assert.equal(versionsOf(message)?.ids.length ?? 1, count)
    }
  }
  store = await reopen(store)
  const words = path().map((node) => node.words)
  for (let limit = 1; limit <= words.length + 1; limit++) {
    const pages = await readAllPages(store, limit)
    assert.deepEqual(pages.map(textOf), words.toReversed())
  }
  // Whoever reads the page and follows from there misses nothing.
  const page = await readPage(store)
  const { changes } = await readChanges(store, page.seq)
  const view = foldThread({ seq: page.seq, messages: page.messages.toReversed() }, changes)
  assert.deepEqual(newestFirst(view), page.messages)
}
