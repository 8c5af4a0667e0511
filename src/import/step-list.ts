import type { OldPart, OldStep } from './old-message.ts'
import { squeeze, textOfStep } from './steps.ts'

/** The steps of a turn in order, to which those of another piece of it are added. */
export interface StepList {
  /** Inserts a step at its position, or adds to the same step what it lacks. */
  add(step: OldStep): void
  steps(): readonly OldStep[]
}

/** A step in the list. Its parts are its own and grow in place. */
interface Slot {
  step: Omit<OldStep, 'parts'>
  parts: OldPart[]
  text: string
  hasCall: boolean
  /** Ascends with the list. */
  rank: number
  before: Slot | undefined
  after: Slot | undefined
}

/** The slots of one date before which no later date stands: what has an earlier date comes before all of them. */
interface DateRun {
  readonly at: number
  first: Slot
  /** Those without a call, in order; those before `from` have got one since. */
  readonly plain: Slot[]
  from: number
}

/**
 * Steps are ordered by their dates, and by their pieces where these are equal. The same step, and the position of a new one,
 * are found by index: compared with each other, the rows of a long turn would take minutes (OP7).
 */
export function createStepList(given: readonly OldStep[]): StepList {
  let first: Slot | undefined
  let last: Slot | undefined
  const byDate = new Map<number | undefined, TextTree<Slot>>()
  /** By date, ascending. */
  const runs: DateRun[] = []

  const insert = (slot: Slot, after: Slot | undefined): void => {
    const before = after === undefined ? last : after.before
    slot.before = before
    slot.after = after
    if (before === undefined) first = slot
    else before.after = slot
    if (after === undefined) last = slot
    else after.before = slot
    slot.rank = rankBetween(before, after)
    if (slot.rank === before?.rank || slot.rank === after?.rank) renumber(first)
    const tree = byDate.get(slot.step.at) ?? createTextTree<Slot>()
    byDate.set(slot.step.at, tree)
    tree.add(slot.text, slot)
  }

  /** Behind all others, whatever its date is. */
  const append = (slot: Slot): void => {
    insert(slot, undefined)
    const { at } = slot.step
    const run = runs.at(-1)
    if (at === undefined || (run !== undefined && at < run.at)) return
    if (run?.at !== at) runs.push(createRun(at, slot))
    else if (!slot.hasCall) run.plain.push(slot)
  }

  const insertByDate = (slot: Slot): void => {
    const { at } = slot.step
    if (at === undefined) return insert(slot, undefined)
    const later = findLater(runs, at)
    const end = runs[later]?.first
    const run = runs[later - 1]
    if (run?.at !== at) {
      runs.splice(later, 0, createRun(at, slot))
      return insert(slot, end)
    }
    if (!slot.hasCall) {
      run.plain.push(slot)
      return insert(slot, end)
    }
    // Of rows with one date, calls come before the answer.
    while (run.plain[run.from]?.hasCall === true) run.from++
    const plain = run.plain[run.from]
    if (plain === run.first) run.first = slot
    insert(slot, plain ?? end)
  }

  for (const step of given) append(toSlot(step))
  return {
    add(step) {
      const slot = toSlot(step)
      // Of several steps of one date, the one with the same text is the same, and not one that has none.
      const tree = slot.text === '' ? undefined : byDate.get(step.at)
      const same = tree?.find(slot.text)
      if (same === undefined) {
        if (step.parts.length > 0) insertByDate(slot)
      } else if (slot.text.length > same.text.length) {
        tree?.removeFirst(same.text)
        tree?.add(slot.text, extend(same, slot))
      } else complete(same, slot)
    },
    steps() {
      const steps: OldStep[] = []
      for (let slot = first; slot !== undefined; slot = slot.after) {
        steps.push({ ...slot.step, parts: slot.parts })
      }
      return steps
    },
  }
}

function toSlot({ parts, ...step }: OldStep): Slot {
  const text = squeeze(textOfStep({ parts }))
  const hasCall = parts.some(({ type }) => type === 'call')
  return { step, parts: [...parts], text, hasCall, rank: 0, before: undefined, after: undefined }
}

const createRun = (at: number, first: Slot): DateRun => ({
  ...{ at, first, from: 0 },
  plain: first.hasCall ? [] : [first],
})

/** The longer text replaces the one that had broken off; the calls of both stay. */
function extend(slot: Slot, { step, parts, text, hasCall }: Slot): Slot {
  slot.step = step
  slot.parts = [...parts, ...slot.parts.filter(isCallOrSteering)]
  slot.text = text
  slot.hasCall ||= hasCall
  return slot
}

function complete(slot: Slot, { step, parts, hasCall }: Slot): void {
  // Marked as broken off when it was read before, and no longer.
  if (slot.step.flaw === 'broken' && step.flaw === undefined) {
    const { flaw: _, ...whole } = slot.step
    slot.step = whole
  }
  for (const part of parts) if (isCallOrSteering(part)) slot.parts.push(part)
  slot.hasCall ||= hasCall
}

const isCallOrSteering = ({ type }: OldPart): boolean => type === 'call' || type === 'steering'

function rankBetween(before: Slot | undefined, after: Slot | undefined): number {
  if (before === undefined) return after === undefined ? 0 : after.rank - 1
  return after === undefined ? before.rank + 1 : (before.rank + after.rank) / 2
}

/** Where there is no number between two of them. */
function renumber(first: Slot | undefined): void {
  let rank = 0
  for (let slot = first; slot !== undefined; slot = slot.after) slot.rank = rank++
}

/** The index of the first run of a later date. */
function findLater(runs: readonly DateRun[], at: number): number {
  let [from, to] = [0, runs.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((runs[middle] as DateRun).at > at) to = middle
    else from = middle + 1
  }
  return from
}

/** Items by texts, of which the first is found whose text begins with another, or that another begins with. */
interface TextTree<Item extends Ranked> {
  add(text: string, item: Item): void
  /** Removes the first item of exactly this text; it must be added again, with a text that begins with this one. */
  removeFirst(text: string): void
  /** The first item of this text. Of none: the first whose text begins with it, or is its beginning. */
  find(text: string): Item | undefined
}

/** Items are in the order of their ranks, which may change as long as the order stays. */
interface Ranked {
  readonly rank: number
}

interface TextNode<Item> {
  /** The items whose text ends here, in order; those before `from` have been removed. */
  readonly own: Item[]
  from: number
  /** The first of all items here and below. */
  first: Item | undefined
  /** By the first character of their text. */
  readonly edges: Map<string, TextEdge<Item>>
}

interface TextEdge<Item> {
  readonly text: string
  readonly node: TextNode<Item>
}

/** A radix tree: every method takes as long as its text is, however many items there are. */
function createTextTree<Item extends Ranked>(): TextTree<Item> {
  const root = createNode<Item>()
  const earlier = (left: Item | undefined, right: Item | undefined): Item | undefined =>
    left === undefined || (right !== undefined && right.rank < left.rank) ? right : left

  return {
    add(text, item) {
      let node = root
      let at = 0
      for (;;) {
        node.first = earlier(node.first, item)
        if (at === text.length) break
        const edge = node.edges.get(text[at] as string)
        if (edge === undefined) {
          const leaf = createNode<Item>()
          node.edges.set(text[at] as string, { text: text.slice(at), node: leaf })
          node = leaf
          at = text.length
          continue
        }
        const common = countCommon(edge.text, text, at)
        node = common === edge.text.length ? edge.node : splitEdge(node, edge, common)
        at += common
      }
      let [from, to] = [node.from, node.own.length]
      while (from < to) {
        const middle = (from + to) >> 1
        if ((node.own[middle] as Item).rank > item.rank) to = middle
        else from = middle + 1
      }
      node.own.splice(from, 0, item)
    },
    removeFirst(text) {
      let node = root
      for (let at = 0; at < text.length;) {
        const edge = node.edges.get(text[at] as string)
        if (edge === undefined) return
        node = edge.node
        at += edge.text.length
      }
      node.from++
    },
    find(text) {
      let node = root
      let found: Item | undefined
      for (let at = 0; ;) {
        const own = node.own[node.from]
        if (at === text.length) return own ?? earlier(found, node.first)
        found = earlier(found, own)
        const edge = node.edges.get(text[at] as string)
        if (edge === undefined) return found
        if (!text.startsWith(edge.text, at)) {
          const isBeginning = edge.text.startsWith(text.slice(at))
          return isBeginning ? earlier(found, edge.node.first) : found
        }
        node = edge.node
        at += edge.text.length
      }
    },
  }
}

const createNode = <Item>(): TextNode<Item> => ({
  own: [],
  from: 0,
  first: undefined,
  edges: new Map(),
})

/** How many characters of `label` stand in the text from here on. */
function countCommon(label: string, text: string, at: number): number {
  if (text.startsWith(label, at)) return label.length
  let count = 0
  while (label[count] === text[at + count] && count < label.length) count++
  return count
}

/** A node in the middle of an edge, behind so many of its characters. */
function splitEdge<Item>(
  above: TextNode<Item>,
  { text, node }: TextEdge<Item>,
  count: number,
): TextNode<Item> {
  const middle = createNode<Item>()
  middle.first = node.first
  middle.edges.set(text[count] as string, { text: text.slice(count), node })
  above.edges.set(text[0] as string, { text: text.slice(0, count), node: middle })
  return middle
}
