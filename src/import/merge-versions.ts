import type { Seq } from '../core/ids.ts'
import { mostVersions, parseVersionId } from '../core/versions.ts'
import type { NamedMessage } from './import-units.ts'
import type { MergedMessage, StoredMessage } from './merge-thread.ts'
import type { Report } from './old-message.ts'
import { mapInSteps, type PausableWork } from '../core/pausable-work.ts'
import {
  addNode,
  isVersionOf,
  nodesOf,
  type VersionNode,
  type VersionRoot,
} from './version-tree.ts'

/** A message of the thread as it is stored, and where. */
export interface StoredVersion extends StoredMessage {
  readonly seq: Seq
}

/** One that is stored and not shown. */
export interface StoredHidden extends StoredVersion {
  readonly parent: Seq
  readonly hiddenSeq: Seq
}

/** One that was read and is not shown where it comes from. */
export interface ReadHidden extends NamedMessage {
  /** The name of this version in the source. */
  readonly version: string | undefined
  /** That of the version that it followed; null: it began the thread. */
  readonly follows: string | null
  readonly nth: number | undefined
  readonly hiddenSeq: Seq
}

/** What goes on being shown of what is stored. */
export interface Staying {
  /** How many of the messages that are shown. */
  readonly count: number
  /** Hidden messages that are shown again, by their ids. */
  readonly back: ReadonlyMap<string, StoredHidden>
  /** Ids of messages that were read as shown, and are hidden here. Undefined: nothing was read that shows it. */
  readonly gone: ReadonlySet<string> | undefined
}

/**
 * The source may have gone another way since from where an import left it: then what is shown there is shown here. But where
 * it has nothing new, what is shown is what people here have chosen.
 */
export function* findStaying(
  shown: readonly StoredVersion[],
  hidden: readonly StoredHidden[],
  read: readonly NamedMessage[],
  readHidden: readonly ReadHidden[],
): PausableWork<Staying> {
  const count = shown.length
  if (readHidden.length === 0) return { count, back: new Map(), gone: undefined }
  const known = yield* createIdentities<StoredVersion>([...shown, ...hidden])
  const isHidden = new Set<StoredVersion | undefined>(hidden)
  const again = new Map<string, StoredHidden>()
  let isAllKnown = true
  for (const item of read) {
    yield
    const found = known.find(item)
    if (found === undefined) isAllKnown = false
    if (isHidden.has(found)) again.set(item.id, found as StoredHidden)
  }
  const gone = new Set(again.keys())
  const asHere = { count, back: new Map(), gone }
  if (isAllKnown) return asHere
  const left = new Set(yield* mapInSteps(readHidden, (item) => known.find(item)))
  const place = shown.findIndex((stored) => left.has(stored))
  if (place < 0 || !shown.slice(place).every(({ isImported }) => isImported)) return asHere
  return { count: place, back: again, gone }
}

export interface VersionsToMerge {
  /** What is to be shown. */
  readonly messages: readonly MergedMessage[]
  /** What is shown now. */
  readonly shown: readonly StoredVersion[]
  readonly staying: Staying
  readonly hidden: readonly StoredHidden[]
  readonly read: readonly NamedMessage[]
  readonly readHidden: readonly ReadHidden[]
}

export interface MergedVersions {
  readonly root: VersionRoot
  /** Everything from here on is written anew; Infinity: nothing has to be. */
  readonly from: Seq
  /** Of what was read and is not shown, what is new. */
  readonly added: readonly ReadHidden[]
  /** And what is stored already. */
  readonly known: readonly StoredMessage[]
}

/** All that is stored and all that was read, as one tree. */
export function* mergeVersions(
  { messages, shown, staying, hidden, read, readHidden }: VersionsToMerge,
  report: Report,
): PausableWork<MergedVersions> {
  const root: VersionRoot = { children: [] }
  const places = new Map<Seq, VersionNode>()
  const { count, back } = staying
  const seqs = new Map(shown.slice(0, count).map(({ id, seq }) => [id, seq]))
  const shownById = new Map<string, VersionNode>()
  const nodes = new Map<StoredMessage, VersionNode>()
  /** Where each was made that is stored, whether or not it is written anew. */
  const made = new Map<VersionNode, Seq>()
  let from = shown[count]?.seq ?? Number.POSITIVE_INFINITY
  let last = root
  for (const item of messages) {
    yield
    const seq = item.fate === 'added' ? undefined : seqs.get(item.id)
    const node: VersionNode = { item, children: [], ...(seq === undefined ? {} : { seq }) }
    const again = item.fate === 'added' ? back.get(item.id) : undefined
    if (again !== undefined) {
      nodes.set(again, node)
      from = Math.min(from, again.seq)
    }
    const place = seq ?? again?.seq
    if (place !== undefined) {
      places.set(place, node)
      made.set(node, place)
    }
    shownById.set(item.id, node)
    addNode(last, node)
    last = node
  }
  for (const stored of shown) {
    const node = places.get(stored.seq)
    if (node !== undefined) nodes.set(stored, node)
  }
  const addStored = (stored: StoredVersion, parent: Seq, hiddenSeq: Seq) => {
    const { id, message, seq } = stored
    const node = { item: { id, message, index: -1 }, seq, hiddenSeq, children: [] }
    const above = parent === 0 ? root : places.get(parent)
    if (above === undefined) return
    const nth = above.children.filter((other) => (made.get(other) ?? seq) < seq).length
    above.children.splice(nth, 0, node)
    made.set(node, seq)
    places.set(seq, node)
    nodes.set(stored, node)
  }
  // Hidden by this import, after everything that was hidden before.
  for (const [nth, stored] of shown.slice(count).entries()) {
    addStored(stored, shown[count + nth - 1]?.seq ?? 0, Number.MAX_SAFE_INTEGER)
  }
  for (const stored of hidden.toSorted((left, right) => left.seq - right.seq)) {
    yield
    if (!nodes.has(stored)) addStored(stored, stored.parent, stored.hiddenSeq)
  }
  yield
  const added = new Map<VersionNode, ReadHidden>()
  const known: StoredMessage[] = []
  const stored = yield* createIdentities([...shown, ...hidden])
  const versions = new Map<string, VersionNode>()
  const turnIds = new Set(
    nodesOf(root).flatMap(({ item }) => (item.message.kind === 'turn' ? [item.id] : [])),
  )
  const shownRead = new Map(read.map((item) => [item.id as string, item]))
  const findAbove = (follows: string | null): VersionRoot | undefined => {
    if (follows === null) return root
    const own = versions.get(follows)
    if (own !== undefined) return own
    for (const { id } of parseVersionId(follows)) {
      const item = shownRead.get(id)
      const found = item === undefined ? undefined : stored.find(item)
      const node = (found === undefined ? undefined : nodes.get(found)) ?? shownById.get(id)
      if (node !== undefined) return node
    }
    return undefined
  }
  for (const item of readHidden) {
    yield
    const { version, follows, nth, index, id, message } = item
    const found = stored.find(item)
    const node = found === undefined ? undefined : nodes.get(found)
    if (node !== undefined) {
      known.push(found as StoredMessage)
      if (version !== undefined) versions.set(version, node)
      continue
    }
    const above = findAbove(follows)
    const own: VersionNode = { item, hiddenSeq: firstNew + item.hiddenSeq, children: [] }
    if (above === undefined) report.fail(index, 'The version that it follows is not there.')
    // As many as edits and new answers make, too: each of them names all before it.
    else if (above.children.filter(isVersionOf(own)).length >= mostVersions)
      report.fail(index, `There are ${mostVersions} versions already.`)
    else if (message.kind !== 'turn' && turnIds.has(id))
      report.fail(index, 'Its id is that of an answer.')
    else {
      for (const { seq = from } of above.children) from = Math.min(from, seq)
      addNode(above, own, nth)
      if (message.kind === 'turn') turnIds.add(id)
      if (version !== undefined) versions.set(version, own)
      added.set(own, item)
    }
  }
  for (const node of yield* dropRepeats(root)) {
    added.delete(node)
    report.fail(node.item.index, 'A message that it follows has its id, or has been left out.')
  }
  return { root, from, added: [...added.values()], known }
}

/** Removes each message that has the id of one above it, with all below it: ids are unique among what is shown together. */
function* dropRepeats(root: VersionRoot): PausableWork<readonly VersionNode[]> {
  const dropped: VersionNode[] = []
  const ids = new Set<string>()
  const open: { readonly node: VersionRoot & Partial<VersionNode>; visited: number }[] = [
    { node: root, visited: 0 },
  ]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    yield
    const { node } = top
    const child = node.children[top.visited]
    if (child === undefined) {
      if (node.item !== undefined) ids.delete(node.item.id)
      open.pop()
    } else if (ids.has(child.item.id)) {
      node.children.splice(top.visited, 1)
      dropped.push(child)
      for (const below of nodesOf(child)) dropped.push(below)
    } else {
      top.visited++
      ids.add(child.item.id)
      open.push({ node: child, visited: 0 })
    }
  }
  return dropped
}

/** What was read was hidden after all that is stored: their numbers are of two histories. */
const firstNew = 2 ** 40

/** Finds a message by what it is: a turn by its id; a person's, whose id an edit may keep, by what it says and when, too. */
function* createIdentities<Stored extends StoredMessage>(
  all: readonly Stored[],
): PausableWork<{ find(item: Pick<NamedMessage, 'id' | 'message'>): Stored | undefined }> {
  const found = new Map<string, Stored>()
  for (const item of all) {
    yield
    for (const key of keysOf(item)) if (!found.has(key)) found.set(key, item)
  }
  return { find: (item) => found.get(keysOf(item)[0]) }
}

/** With its date, and without: some sources have none. */
function keysOf({ id, message }: Pick<NamedMessage, 'id' | 'message'>): readonly [string, string] {
  if (message.kind === 'turn') return [id, id]
  const words = JSON.stringify([id, message.role, message.parts])
  return [message.at === undefined ? words : `${words} ${message.at}`, words]
}
