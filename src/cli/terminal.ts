import { stripVTControlCharacters } from 'node:util'

/** Where a command writes to, and what can be shown there. */
export interface Terminal {
  /** The command's output. */
  readonly print: (line: string) => void
  /** Everything beside the output: warnings, progress, hints. */
  readonly note: (line: string) => void
  /** Replaces the previous line; does nothing without a terminal. */
  readonly redraw: (line: string) => void
  readonly isWatched: boolean
  readonly columns: number
  readonly paint: (color: Color, text: string) => string
}
export type Color = 'red' | 'green' | 'yellow' | 'dim'

const codes: Readonly<Record<Color, number>> = { red: 31, green: 32, yellow: 33, dim: 2 }

export function createTerminal(
  out: NodeJS.WriteStream,
  err: NodeJS.WriteStream,
  env: NodeJS.ProcessEnv,
): Terminal {
  const isWatched = err.isTTY
  // https://no-color.org: any value that is not empty.
  const hasColor = isWatched && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb'
  let isDrawn = false
  const clear = () => {
    if (isDrawn) err.write('\r\u001B[K')
    isDrawn = false
  }
  return {
    isWatched,
    columns: err.columns || 80,
    paint: (color, text) => (hasColor ? `\u001B[${codes[color]}m${text}\u001B[0m` : text),
    print(line) {
      clear()
      // Only the other stream may be a terminal: a file that this one goes into must not contain colours.
      out.write(`${out.isTTY ? line : stripVTControlCharacters(line)}\n`)
    },
    note(line) {
      clear()
      err.write(`${line}\n`)
    },
    redraw(line) {
      if (!isWatched) return
      clear()
      err.write(line)
      isDrawn = line !== ''
    },
  }
}
