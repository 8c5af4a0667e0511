/**
 * Markdown that is still being written, closed as if it ended here: an open fence, an open `code`
 * span, open emphasis and a half link are completed or hidden, so that the page does not flash
 * between two readings of the same words.
 */
export function closeOpenSyntax(text: string): string {
  const fences = text.match(/^ {0,3}(```+|~~~+)/gm) ?? []
  if (fences.length % 2 === 1) return `${text}\n${(fences.at(-1) ?? '```').trim()}`
  const lineStart = text.lastIndexOf('\n') + 1
  const before = text.slice(0, lineStart)
  let line = text.slice(lineStart)
  // A link whose address is not there yet is shown as its words.
  line = line.replace(/!?\[([^\]]*)\]\([^)]*$/, '$1').replace(/!?\[([^\]]*)$/, '$1')
  if ((line.match(/`/g) ?? []).length % 2 === 1) return `${before}${line}\``
  for (const mark of ['**', '__', '~~']) {
    if (line.split(mark).length % 2 === 0) {
      line = line.endsWith(mark) ? line.slice(0, -mark.length) : `${line}${mark}`
    }
  }
  // A lone trailing marker is not text yet.
  return `${before}${line.replace(/(^|\s)[*_~]{1,2}$/, '$1')}`
}
