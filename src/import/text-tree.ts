/** Items by texts, of which the first is found whose text begins with another, or that another begins with. */
export interface TextTree<Item extends Ranked> {
  add(text: string, item: Item): void
  /** Removes the first item of exactly this text; it must be added again, with a text that begins with this one. */
  removeFirst(text: string): void
  /** The first item of this text. Of none: the first whose text begins with it, or is its beginning. */
  find(text: string): Item | undefined
}

/** Items are in the order of their ranks, which may change as long as the order stays. */
export interface Ranked {
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
export function createTextTree<Item extends Ranked>(): TextTree<Item> {
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
