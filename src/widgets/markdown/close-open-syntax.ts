import { inlineReach } from './bounded-lexer.ts'
import { closeOpenInline } from './close-open-inline.ts'

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
