import assert from 'node:assert/strict'
import type { NewEvent } from '../../core/event.ts'
import { type MessageId, parseMessageId, type Seq } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import { earlierVersions, type MessageVersion, versionsOf } from '../../core/versions.ts'
import type { Store } from '../../store/store.ts'
import { createRandom } from '../random.ts'
import { readPage } from './read-thread.ts'
import { append, at, ended, messageAdded, started, text, thread } from './thread-script.ts'

/** What is shown, oldest first. */
export async function readShown(store: Store): Promise<readonly Message[]> {
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
export async function replace(store: Store, target: MessageId, id: MessageId, words: string) {
  const shown = await readShown(store)
  const from = shown.findIndex((message) => message.id === target)
  const old = shown[from]
  assert.ok(old !== undefined)
  const versionOf = earlierVersions(old)
  const gone = hide(shown.slice(from), shown[from - 1]?.seq ?? 0)
  if (old.role !== 'assistant') {
    await append(store, [...gone, { ...messageAdded(words, id), versionOf } as NewEvent])
    return
  }
  const begun = { ...started(id), versionOf } as NewEvent
  await append(store, [...gone, begun, ...text(words, id), ended(id)])
}

/** Shows a version, as the engine does. */
export async function show(store: Store, target: string) {
  const path = await store.readPath(thread, target)
  assert.ok(path !== null, `no path to ${target}`)
  const places = path.show.map(({ seq }) => seq)
  const shown = { type: 'messages-shown', places, at } as const
  await append(store, [...hide(path.hide, path.after), shown])
}

/** The text of a message. */
export const textOf = (message: Message): string =>
  message.role === 'assistant'
    ? message.steps
        .flatMap(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : '')))
        .join('')
    : message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

/** A message of the oracle: its words are unique, and it knows its own children. */
interface Node {
  readonly words: string
  readonly id: MessageId
  readonly parent: Node | null
  readonly children: Node[]
  /** The child that was shown last. */
  last: Node | null
}

/** A thread that grows by messages, edits, new answers and switches, the same ones for the same seed. */
export interface RandomTree {
  /** Does one of them, and asserts that the store then shows what an independent walk of the tree returns. */
  grow(): Promise<void>
  /** Shows another version, if there is one. */
  switch(): Promise<void>
  /** What is shown, oldest first. */
  words(): readonly string[]
}

/** Grows the thread of the rules, which is there and empty. */
export function createRandomTree(store: Store, seed: number): RandomTree {
  const random = createRandom(seed)
  const root: Node = { words: '', id: '', parent: null, children: [], last: null }
  const all: Node[] = []
  const versionIds = new Map<Node, string>()
  let step = 0

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
  const newId = (isTurn: boolean) => parseMessageId(`${isTurn ? 'turn' : 'user'}-${step}`)

  const addOne = async () => {
    const shown = path()
    const isTurn = shown.length % 2 === 1
    const { id, words } = add(shown.at(-1) ?? root, newId(isTurn))
    await append(
      store,
      isTurn ? [started(id), ...text(words, id), ended(id)] : [messageAdded(words, id)],
    )
  }
  const replaceOne = async () => {
    const old = random.pick(path())
    const isTurn = old.id.startsWith('turn')
    // Some edits keep the id.
    const id = !isTurn && random.int(2) === 0 ? old.id : newId(isTurn)
    const node = add(old.parent ?? root, id)
    await replace(store, old.id, id, node.words)
  }
  const showOne = async (node: Node) => {
    for (let one: Node | null = node; one?.parent != null; one = one.parent) one.parent.last = one
    const target = versionIds.get(node) ?? node.id
    const found = await store.readPath(thread, target)
    assert.ok(found !== null)
    if (found.show.length > 0) await show(store, target)
  }
  const compare = async () => {
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

  return {
    async grow() {
      const kind = random.int(3)
      if (kind === 0 || root.last === null) await addOne()
      else if (kind === 1) await replaceOne()
      else await showOne(random.pick(all))
      step++
      await compare()
    },
    async switch() {
      const shown = new Set(path())
      const others = all.filter((node) => !shown.has(node))
      if (others.length === 0) return
      await showOne(random.pick(others))
      await compare()
    },
    words: () => path().map(({ words }) => words),
  }
}
