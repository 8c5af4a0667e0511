import { Lexer, type Token, Tokenizer, type Tokens, type TokensList } from 'marked'

/** Far more than people nest, and far less than a stack or a browser's layout can take. */
const deepest = 20
/**
 * How far one block is read, in characters. What `marked` does in a block is quadratic in its length for some texts. A
 * longer list or quotation becomes several, a longer paragraph is read in parts and stays one.
 */
const blockReach = 4000
/** A title or a definition of a link that is longer is none. */
const headingReach = 1000
/** Inline marks farther apart than this do not belong together. */
export const inlineReach = 2000
/**
 * What one text may cost. A step is about a microsecond and about one element on the page. 200,000 characters of lists or
 * tables take up to 80,000.
 */
const mostSteps = 100_000
/** Characters that one step reads: of what is nested, of inline text that is looked ahead at, of emphasis without an end. */
const charsPerStep = { nested: 100, inline: 500, emphasis: 50 }

/** What is left of the work and of the depth that one text may have. */
class Budget {
  spent: number
  private depth = 0

  constructor(spent: number) {
    this.spent = spent
  }

  /** Reads what is nested; undefined if it is nested too deeply. */
  nested<Result>(read: () => Result): Result | undefined {
    if (this.depth === deepest) return undefined
    this.depth++
    try {
      return read()
    } finally {
      this.depth--
    }
  }

  has(steps: number): boolean {
    return this.spent + steps <= mostSteps
  }

  /** Whether there was enough left. */
  spend(steps: number): boolean {
    this.spent += steps
    return this.spent <= mostSteps
  }
}

/**
 * Reads whatever a model writes in bounded time and depth, and never throws (HT5). Where `marked` would read too far, too
 * deep or too much, the text in that place is plain: the rest of the answer keeps its form. Work is counted and not timed,
 * so that a text looks the same on every machine.
 */
export class BoundedLexer extends Lexer {
  private readonly budget: Budget

  constructor(spent = 0) {
    const budget = new Budget(spent)
    super({
      gfm: true,
      tokenizer: new BoundedTokenizer(budget),
      extensions: {
        renderers: {},
        childTokens: {},
        block: [(source) => (budget.spend(1) ? undefined : plainBlock(source))],
        inline: [
          (source) =>
            budget.spend(1 + source.length / charsPerStep.inline) ? undefined : plainText(source),
        ],
        // Where a paragraph is cut; marked itself puts the parts together.
        startBlock: [(source) => lineEndAfter(source, blockReach)],
      },
    })
    this.budget = budget
  }

  /** The steps so far, with those that were spent before. */
  get spent(): number {
    return this.budget.spent
  }

  override blockTokens(source: string, tokens?: Token[], isClipped?: boolean): Token[]
  override blockTokens(source: string, tokens?: TokensList, isClipped?: boolean): TokensList
  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): Token[] {
    if (this.canRead(source)) super.blockTokens(source, tokens, isClipped)
    else tokens.push(plainBlock(source))
    return tokens
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const read = this.budget.nested(() => {
      if (!this.canRead(source)) return undefined
      for (const piece of piecesOf(source)) super.inlineTokens(piece, tokens)
      return tokens
    })
    if (read === undefined) tokens.push(plainText(source))
    return tokens
  }

  /** A nested text is read again on each level, and lines that lazily continue a quotation even more often. */
  private canRead(source: string): boolean {
    return this.budget.spend(source.length / charsPerStep.nested)
  }
}

/**
 * Lists and quotations count their depth here and not in `blockTokens`: where a line lazily continues a quotation, `marked`
 * reads the inner one again from inside of the outer one, and each such line would make room for one more level.
 */
class BoundedTokenizer extends Tokenizer {
  private readonly budget: Budget

  constructor(budget: Budget) {
    super()
    this.budget = budget
  }

  override list(source: string): Tokens.List | undefined {
    if (!/^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t\n]|$)/.test(source)) return undefined
    const reached = clip(source, /\n(?=(?:[-*+]|\d{1,9}[.)])[ \t])/g)
    const token = this.budget.nested(() => super.list(reached))
    this.budget.spend(token?.items.length ?? 0)
    return token
  }

  override blockquote(source: string): Tokens.Blockquote | undefined {
    if (!/^ {0,3}>/.test(source)) return undefined
    const reached = clip(source, /\n(?=>)/g)
    return this.budget.nested(() => super.blockquote(reached))
  }

  override lheading(source: string): Tokens.Heading | undefined {
    return super.lheading(source.slice(0, lineEndAfter(source, headingReach)))
  }

  override def(source: string): Tokens.Def | undefined {
    return super.def(source.slice(0, lineEndAfter(source, headingReach)))
  }

  /** Each row is filled up to the width of the header, so that a short text can have very many cells. */
  override table(source: string): Tokens.Table | undefined {
    if (!/^[^\n]+\n {0,3}[- ]*[|:]/.test(source)) return undefined
    const [whole, header = ''] = this.rules.block.table.exec(source) ?? []
    if (whole === undefined) return undefined
    const cells = header.split('|').length * whole.split('\n').length
    // A table that is refused costs only its reading, so that what follows it keeps its form. That much it must cost: its
    // second line may begin the next one, which reaches as far.
    const isRefused = !this.budget.has(cells)
    const hasSpent = this.budget.spend(isRefused ? whole.length / charsPerStep.nested : cells)
    return isRefused || !hasSpent ? undefined : super.table(whole)
  }

  override emStrong(
    source: string,
    masked: string,
    before = '',
  ): ReturnType<Tokenizer['emStrong']> {
    if (!canOpen(source, before)) return undefined
    const token = super.emStrong(source, masked, before)
    this.budget.spend((token?.raw ?? source).length / charsPerStep.emphasis)
    return token
  }

  override del(source: string, masked: string, before = ''): ReturnType<Tokenizer['del']> {
    if (!canOpen(source, before)) return undefined
    const token = super.del(source, masked, before)
    this.budget.spend((token?.raw ?? source).length / charsPerStep.emphasis)
    return token
  }
}

/** Whether marked would look for the end of emphasis from here: not before a space, and `_` not inside a word. */
const canOpen = (source: string, before: string): boolean =>
  /^(?:\*+[^*\s]|_+[^_\s]|~+[^~\s])/.test(source) &&
  !(source.startsWith('_') && /[\p{L}\p{N}]/u.test(before))

/** As a block of HTML is: as it was written, with its lines. */
const plainBlock = (text: string): Tokens.HTML => ({
  type: 'html',
  block: true,
  pre: false,
  raw: text,
  text,
})

const plainText = (text: string): Tokens.Text => ({ type: 'text', raw: text, text, escaped: false })

/** The source up to a place after `blockReach` where it may be cut; if there is none for long, up to the end of a line. */
function clip(source: string, place: RegExp): string {
  if (source.length <= blockReach) return source
  const farthest = source.slice(0, 4 * blockReach)
  place.lastIndex = blockReach
  const end = place.exec(farthest)?.index ?? farthest.lastIndexOf('\n')
  return end <= 0 ? farthest : source.slice(0, end + 1)
}

function lineEndAfter(source: string, reach: number): number {
  const end = source.length <= reach ? -1 : source.indexOf('\n', reach)
  return end === -1 ? source.length : end
}

/** Cut between words if there are any. */
function piecesOf(source: string): readonly string[] {
  const pieces: string[] = []
  let start = 0
  while (source.length - start > inlineReach) {
    const farthest = start + inlineReach
    const gap = Math.max(source.lastIndexOf(' ', farthest), source.lastIndexOf('\n', farthest))
    const end = gap > start ? gap + 1 : farthest
    pieces.push(source.slice(start, end))
    start = end
  }
  pieces.push(source.slice(start))
  return pieces
}
