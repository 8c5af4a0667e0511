/** Splits text that arrives in pieces into lines, which end with LF, CRLF or CR. */
export interface LineSplitter {
  /** The lines that are complete with this piece. */
  push(text: string): readonly string[]
  /** The line that the text ended in, if it is not empty. */
  end(): readonly string[]
}

/** Reads each character once: a long line in many pieces costs time in proportion to its length. */
export function createLineSplitter(): LineSplitter {
  let pieces: string[] = []
  /** A CR ended the last piece. An LF at the start of the next belongs to the same line end. */
  let endsInReturn = false
  return {
    push(text) {
      if (text === '') return []
      const [first = '', ...others] = text
        .slice(endsInReturn && text.startsWith('\n') ? 1 : 0)
        .split(/\r\n|\n|\r/)
      endsInReturn = text.endsWith('\r')
      pieces.push(first)
      return others.map((next) => {
        const line = pieces.join('')
        pieces = [next]
        return line
      })
    },
    end() {
      const line = pieces.join('')
      pieces = []
      return line === '' ? [] : [line]
    },
  }
}
