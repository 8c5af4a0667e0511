import type { Terminal } from './terminal.ts'

/** The progress of long work: a bar on a terminal, an occasional line in a log. */
export interface Progress {
  /** `share` is between 0 and 1, or undefined where the end is not known. */
  update(share: number | undefined, describe: () => string): void
  done(): void
}

const redrawMs = 100
const lineMs = 5_000

export function createProgress(terminal: Terminal, now: () => number = Date.now): Progress {
  const { isWatched, paint } = terminal
  let next = now() + (isWatched ? redrawMs : lineMs)
  return {
    update(share, describe) {
      if (now() < next) return
      next = now() + (isWatched ? redrawMs : lineMs)
      if (!isWatched) {
        terminal.note(share === undefined ? describe() : `${percent(share)} ${describe()}`)
        return
      }
      const width = Math.max(10, Math.min(30, terminal.columns - 50))
      const text = describe().slice(0, terminal.columns - width - 8)
      terminal.redraw(
        share === undefined ? text : `${drawBar(share, width, paint)} ${percent(share)} ${text}`,
      )
    },
    done: () => terminal.redraw(''),
  }
}

const percent = (share: number): string => `${String(Math.floor(share * 100)).padStart(3)} %`

function drawBar(share: number, width: number, paint: Terminal['paint']): string {
  const full = Math.round(Math.min(1, share) * width)
  return paint('green', '█'.repeat(full)) + paint('dim', '░'.repeat(width - full))
}
