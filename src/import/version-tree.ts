import type { NewEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { MessageVersion } from '../core/versions.ts'
import { isUser, type NamedMessage, type Unit } from './import-units.ts'
import type { PausableWork } from '../core/pausable-work.ts'

/** A message of a thread with versions, shown or not, as it is to be. */
export interface VersionNode {
  readonly item: NamedMessage
  /** Where it is stored. Absent: it is not, so far. */
  readonly seq?: Seq
  /** The event that hid it; absent: it is shown. */
  readonly hiddenSeq?: Seq
  /** What follows it, in the order of making. Those of one role are versions of each other. */
  readonly children: VersionNode[]
}

/** Before the first message of a thread. */
export type VersionRoot = Pick<VersionNode, 'children' | 'hiddenSeq'>

/** Adds a message behind another, as version number `nth` of what follows there, or as the newest. */
export function addNode(parent: VersionRoot, node: VersionNode, nth?: number): void {
  const { children } = parent
  const next = nth === undefined ? undefined : children.filter(isVersionOf(node))[nth]
  if (next === undefined) children.push(node)
  else children.splice(children.indexOf(next), 0, node)
}

const isVersionOf = (node: VersionNode) => {
  const role = roleOf(node)
  return (other: VersionNode): boolean => roleOf(other) === role
}

const roleOf = ({ item: { message } }: VersionNode): string =>
  message.kind === 'turn' ? 'assistant' : message.role

/** Of what follows a message, what is shown with it: what is shown now; of a hidden one, what was hidden last (VR1). */
function nextOf(node: VersionRoot): VersionNode | undefined {
  const { children, hiddenSeq: ownSeq } = node
  if (ownSeq === undefined) return children.find(({ hiddenSeq }) => hiddenSeq === undefined)
  let next: VersionNode | undefined
  for (const child of children) {
    if ((child.hiddenSeq ?? 0) >= (next?.hiddenSeq ?? 0)) next = child
  }
  return next
}

/** Every message of the tree, each after the one that it follows. */
export function nodesOf(root: VersionRoot): readonly VersionNode[] {
  const nodes = [...root.children]
  for (let nth = 0; nth < nodes.length; nth++) {
    for (const child of (nodes[nth] as VersionNode).children) nodes.push(child)
  }
  return nodes
}

/** The messages behind which, on some path, a person has written. */
function findFollowed(root: VersionRoot): ReadonlySet<VersionNode> {
  const followed = new Set<VersionNode>()
  for (const node of nodesOf(root).toReversed()) {
    if (node.children.some((child) => isUser(child.item.message) || followed.has(child)))
      followed.add(node)
  }
  return followed
}

export interface TreeOptions {
  /** What stands before this place stays as it is stored: shown, each message behind the one before it. */
  readonly from: Seq
  /** The place of the first event that is written. */
  readonly first: Seq
  readonly at: number
  readonly toUnit: (item: NamedMessage, place: UnitPlace) => Unit
}

export interface UnitPlace {
  readonly replyTo: MessageId | null
  /** A message of a person follows it. */
  readonly isFollowed: boolean
}

export interface WrittenTree {
  /** Each is what one commit would have done: an edit, an answer made anew, a switch, or messages one after another. */
  readonly appends: readonly (readonly NewEvent[])[]
  readonly units: readonly Unit[]
}

/** Of one append, as far as turns are not longer. */
const mostEvents = 100

/**
 * The events that make a tree of versions: each message behind the one that it follows, with what stood there hidden
 * before, and at last, wherever paths part, the one shown that was shown. A message comes after all that stands before it on
 * its path, so its place is higher than theirs, as it has to be.
 */
export function* writeTree(
  root: VersionRoot,
  { from, first, at, toUnit }: TreeOptions,
): PausableWork<WrittenTree> {
  const appends: NewEvent[][] = []
  const units: Unit[] = []
  const followed = findFollowed(root)
  const places = new Map<VersionNode, Seq>()
  let seq = first
  const add = (events: readonly NewEvent[]) => {
    const last = appends.at(-1)
    if (last === undefined || last.length >= mostEvents) appends.push([...events])
    else last.push(...events)
    seq += events.length
  }
  const placeOf = (node: VersionNode | undefined): Seq =>
    node === undefined ? 0 : (places.get(node) ?? 0)
  const toVersion = (node: VersionNode): MessageVersion => ({
    id: node.item.id,
    seq: placeOf(node),
  })
  /** What is shown at this point of the writing. */
  const path: VersionNode[] = []
  const questions: (MessageId | null)[] = []
  const push = (node: VersionNode) => {
    path.push(node)
    const { id, message } = node.item
    questions.push(isUser(message) ? id : (questions.at(-1) ?? null))
  }
  for (let node = nextOf(root); node?.seq !== undefined && node.seq < from; node = nextOf(node)) {
    places.set(node, node.seq)
    push(node)
  }
  /** An append of its own begins with it: a commit shows or hides a message once. */
  const hideFrom = (depth: number) => {
    const hidden = path.splice(depth).map(toVersion)
    questions.length = depth
    appends.push([])
    if (hidden.length === 0) return
    const kept = { after: placeOf(path.at(-1)), places: hidden.map((version) => version.seq) }
    add([{ type: 'messages-retired', at, messageIds: hidden.map(({ id }) => id), kept }])
  }
  const enter = (node: VersionNode, depth: number, siblings: readonly VersionNode[]) => {
    if (path.length > depth) hideFrom(depth)
    const isFollowed = followed.has(node)
    const unit = toUnit(node.item, { replyTo: questions.at(-1) ?? null, isFollowed })
    const earlier = siblings.slice(0, siblings.indexOf(node)).filter(isVersionOf(node))
    places.set(node, seq)
    add(earlier.length === 0 ? unit.events : asVersion(unit.events, earlier.map(toVersion)))
    units.push(unit)
    push(node)
  }
  const leave = (node: VersionRoot, depth: number) => {
    let next = nextOf(node)
    if (path[depth] === next) return
    hideFrom(depth)
    const shown: Seq[] = []
    for (; next !== undefined; next = nextOf(next)) {
      shown.push(placeOf(next))
      push(next)
    }
    if (shown.length > 0) add([{ type: 'messages-shown', at, places: shown }])
    appends.push([])
  }
  // Not by recursion: a thread may be as deep as it is long.
  const open: { readonly node: VersionRoot; visited: number }[] = [{ node: root, visited: 0 }]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    yield
    const depth = open.length - 1
    const { children } = top.node
    const child = children[top.visited++]
    if (child === undefined) {
      leave(top.node, depth)
      open.pop()
      continue
    }
    if (!places.has(child)) {
      // Hidden before, with all below it: it stays as it is stored.
      if (child.seq !== undefined && child.seq < from) {
        places.set(child, child.seq)
        continue
      }
      enter(child, depth, children)
    }
    open.push({ node: child, visited: 0 })
  }
  return { appends: appends.filter((events) => events.length > 0), units }
}

/** The first event of a message or a turn says of what it is another version. */
const asVersion = (
  events: readonly NewEvent[],
  versionOf: readonly MessageVersion[],
): readonly NewEvent[] =>
  events.map((event, nth) =>
    nth === 0 && (event.type === 'message-added' || event.type === 'turn-started')
      ? { ...event, versionOf }
      : event,
  )
