import { inlineReach } from './bounded-lexer.ts'

/**
 * Markdown that is still being written, as if it ended here: open syntax is closed, and markup without text yet is held
 * back. So the page never flickers between two interpretations of the same text, and what it shows only grows.
 */
export function closeOpenSyntax(text: string): string {
  const fence = openFenceOf(text)
  const start = text.lastIndexOf('\n') + 1
  const line = text.slice(start)
  if (fence !== undefined) {
    // A line that is empty, or may become the end of the block, is not yet a line of the code.
    const isHeldBack = /^\s*[`~]*$/.test(line)
    return `${isHeldBack ? text.slice(0, start) : `${text}\n`}${fence}`
  }
  if (isOnlyMarks(line)) return text.slice(0, start)
  const table = openTableStart(text)
  if (table !== undefined) return text.slice(0, table)
  const inline = Math.max(start, text.length - inlineReach)
  return text.slice(0, inline) + closeOpenInline(text.slice(inline))
}

function openFenceOf(text: string): string | undefined {
  let open: string | undefined
  for (const [, mark = '', rest = ''] of text.matchAll(/^ {0,3}(`{3,}|~{3,})([^\n]*)(?=\n|$)/gm)) {
    if (open === undefined) open = mark
    else if (mark.startsWith(open) && rest.trim() === '') open = undefined
  }
  return open
}

const isOnlyMarks = (line: string): boolean =>
  /^\s*(?:#{1,6}|>|[-*+_=~`]+|(?:[-*+>]|\d{1,9}[.)])\s+\[[ xX]?\]?|\d{1,9}[.)]?|[-*+>]\s+[-*+>#]+)\s*$/.test(
    line,
  )

/** A table is recognized only when the line under its header is complete: until then it would be rendered as text. */
function openTableStart(text: string): number | undefined {
  const isLineOver = text.endsWith('\n')
  const lines = (isLineOver ? text.slice(0, -1) : text).split('\n')
  let first = lines.length
  while (first > 0 && /^ {0,3}\|/.test(lines[first - 1] ?? '')) first--
  const rows = lines.length - first
  if (rows === 0 || rows > (isLineOver ? 1 : 2)) return undefined
  return lines.slice(0, first).join('\n').length
}

/** Closes the open inline syntax in one line of a paragraph that is still being written. */
function closeOpenInline(whole: string): string {
  const line = whole.replace(/(?:[*_~`\\]+|&[a-z0-9#]*)$/i, '')
  const open: string[] = []
  let index = 0
  while (index < line.length) {
    const char = line[index] as string
    if (char === '\\') {
      index += 2
      continue
    }
    const run = /^(?:`+|\*+|_+|~+)/.exec(line.slice(index, index + 40))?.[0]
    if (run === undefined) {
      index++
      continue
    }
    if (char === '`') {
      const end = line.indexOf(run, index + run.length)
      if (end === -1) return `${line}${run}${closing(open)}`
      index = end + run.length
      continue
    }
    meet(open, run, line[index - 1], line[index + run.length])
    index += run.length
  }
  // Markup does not close after a space.
  return open.length === 0 ? closeOpenLink(line) : closeOpenLink(line).trimEnd() + closing(open)
}

const closing = (open: readonly string[]): string => open.toReversed().join('')

function meet(open: string[], run: string, before: string | undefined, after: string | undefined) {
  const marks = run.length > 2 ? [run.slice(0, 2), run.slice(2, 3)] : [run]
  const isSpace = (char: string | undefined) => char === undefined || /\s/.test(char)
  for (const mark of marks) {
    const place = open.lastIndexOf(mark)
    if (place !== -1 && !isSpace(before)) open.length = place
    else if (canOpen(mark, before) && !isSpace(after)) open.push(mark)
  }
}

/** An underscore inside a word is a letter, and a single tilde is just that. */
const canOpen = (mark: string, before: string | undefined): boolean =>
  mark !== '~' && (!mark.startsWith('_') || before === undefined || !/[\p{L}\p{N}]/u.test(before))

/** A link without its address yet is shown as its text; an unfinished image is not shown. */
const closeOpenLink = (line: string): string =>
  line
    .replace(/!(?:\[[^\]]*(?:\](?:\([^)]*)?)?)?$/, '')
    .replace(/\[([^\]]*)(?:\](?:\([^)]*)?)?$/, '$1')
