/** Closes the open inline syntax in one line of a paragraph that is still being written. */
export function closeOpenInline(whole: string): string {
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
