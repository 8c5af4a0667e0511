import type { NewEvent } from '../core/event.ts'
import type { MessageId, Seq } from '../core/ids.ts'
import type { MessageVersion } from '../core/versions.ts'
import { endOfMessage, endOfUnit, isUser, type NamedMessage, type Unit } from './import-units.ts'
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

/** Whether another message is of the same role: behind one message, those are versions of each other. */
export const isVersionOf = (node: VersionNode) => {
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

/** For each message how many are shown where it is, from it on. */
function findLengths(root: VersionRoot): ReadonlyMap<VersionNode, number> {
  const lengths = new Map<VersionNode, number>()
  for (const node of nodesOf(root).toReversed()) {
    const next = nextOf(node)
    lengths.set(node, 1 + (next === undefined ? 0 : (lengths.get(next) ?? 0)))
  }
  return lengths
}

/**
 * What is shown with a message, and was made before others that follow it, is hidden for them and shown again behind them.
 * If it is longer than this, what is below it is written behind them: hidden and shown at every level of a deep tree, it
 * would take the square of the depth (OP7).
 */
const longestRepeated = 32

export interface TreeOptions {
  /** What stands before this place stays as it is stored: shown, each message behind the one before it. */
  readonly from: Seq
  /** The place of the first event that is written. */
  readonly first: Seq
  readonly at: number
  readonly toUnit: (item: NamedMessage, place: UnitPlace) => PausableWork<Unit>
}

export interface UnitPlace {
  readonly replyTo: MessageId | null
  /** A message of a person follows it. */
  readonly isFollowed: boolean
  /** When what stands before it was over. Only of a message without a date. */
  readonly after: number | undefined
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
  const lengths = findLengths(root)
  /** One object for each message, which all later versions name. */
  const places = new Map<VersionNode, MessageVersion>()
  const put = (node: VersionNode, place: Seq) => places.set(node, { id: node.item.id, seq: place })
  let seq = first
  const add = (events: readonly NewEvent[]) => {
    let last = appends.at(-1)
    if (last === undefined || last.length >= mostEvents) appends.push((last = []))
    // One by one: a turn may have more events than a call can have arguments.
    for (const event of events) last.push(event)
    seq += events.length
  }
  const toVersion = (node: VersionNode): MessageVersion =>
    places.get(node) ?? { id: node.item.id, seq: 0 }
  const placeOf = (node: VersionNode | undefined): Seq =>
    node === undefined ? 0 : toVersion(node).seq
  /** What is shown at this point of the writing. */
  const path: VersionNode[] = []
  /** When it was over, of each that was written without a date. */
  const ends = new Map<VersionNode, number>()
  const endBefore = (): number | undefined => {
    const before = path.at(-1)
    return before === undefined
      ? undefined
      : (ends.get(before) ?? endOfMessage(before.item.message))
  }
  const questions: (MessageId | null)[] = []
  const push = (node: VersionNode) => {
    path.push(node)
    const { id, message } = node.item
    questions.push(isUser(message) ? id : (questions.at(-1) ?? null))
  }
  for (let node = nextOf(root); node?.seq !== undefined && node.seq < from; node = nextOf(node)) {
    put(node, node.seq)
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
  const enter = function* (
    node: VersionNode,
    depth: number,
    siblings: readonly VersionNode[],
  ): PausableWork<void> {
    if (path.length > depth) hideFrom(depth)
    const isFollowed = followed.has(node)
    const isDated = node.item.message.at !== undefined
    const after = isDated ? undefined : endBefore()
    const place = { replyTo: questions.at(-1) ?? null, isFollowed, after }
    const unit = yield* toUnit(node.item, place)
    if (!isDated) ends.set(node, endOfUnit(unit))
    const earlier = siblings.slice(0, siblings.indexOf(node)).filter(isVersionOf(node))
    put(node, seq)
    add(earlier.length === 0 ? unit.events : asVersion(unit.events, earlier.map(toVersion)))
    units.push(unit)
    push(node)
  }
  /** In place of what is shown at this depth. */
  const show = (nodes: readonly VersionNode[], depth: number) => {
    hideFrom(depth)
    for (const node of nodes) push(node)
    if (nodes.length > 0)
      add([{ type: 'messages-shown', at, places: nodes.map((node) => placeOf(node)) }])
    appends.push([])
  }
  const leave = (node: VersionRoot, depth: number) => {
    const shown: VersionNode[] = []
    if (path[depth] === nextOf(node)) return
    for (let next = nextOf(node); next !== undefined; next = nextOf(next)) shown.push(next)
    show(shown, depth)
  }
  // Not by recursion: a thread may be as deep as it is long.
  const open = [openNode(root)]
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    yield
    const depth = open.length - 1
    const { children } = top.node
    const child = children[top.visited++]
    if (child === undefined) {
      const { waiting } = top
      top.waiting = undefined
      if (waiting === undefined) {
        leave(top.node, depth)
        open.pop()
        continue
      }
      if (path[depth] !== waiting) show([waiting], depth)
      open.push(openNode(waiting))
      continue
    }
    if (!places.has(child)) {
      // Hidden before, with all below it: it stays as it is stored.
      if (child.seq !== undefined && child.seq < from) {
        put(child, child.seq)
        continue
      }
      yield* enter(child, depth, children)
      const isLong = (lengths.get(child) ?? 0) > longestRepeated
      if (child === top.next && isLong && top.visited < children.length) {
        top.waiting = child
        continue
      }
    }
    open.push(openNode(child))
  }
  return { appends: appends.filter((events) => events.length > 0), units }
}

/** A message whose followers are being written. */
interface OpenNode {
  readonly node: VersionRoot
  /** The one of them that is shown with it. */
  readonly next: VersionNode | undefined
  /** How many of them have been looked at. */
  visited: number
  /** The same one, where it was written before others, and what is below it will be written behind them. */
  waiting: VersionNode | undefined
}

const openNode = (node: VersionRoot): OpenNode => ({
  ...{ node, next: nextOf(node), visited: 0, waiting: undefined },
})

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
