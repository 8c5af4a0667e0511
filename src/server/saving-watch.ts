import type { Holdfast } from '../engine/create-holdfast.ts'
import { type SavingNote, savingNoteOf } from '../views/saving-note.ts'

/** Tells open streams when what is written no longer gets through, and when it does again. */
export interface SavingWatch {
  /** At once if saving is interrupted now; then on every change, until the returned function is called. */
  watch(listener: (note: SavingNote) => void): () => void
}

/** With the second that a slow write is given, a client hears of it within two. */
const lookEveryMs = 250

/** One timer for all streams, and none while there are none: a write that hangs can tell nobody itself. */
export function createSavingWatch({ saving }: Pick<Holdfast, 'saving'>): SavingWatch {
  const listeners = new Set<(note: SavingNote) => void>()
  let sent = saving()
  let timer: ReturnType<typeof setInterval> | undefined
  const look = () => {
    const now = saving()
    if (now === sent) return
    sent = now
    for (const listener of [...listeners]) listener(savingNoteOf(now))
  }
  return {
    watch(listener) {
      if (listeners.size === 0) {
        sent = saving()
        timer = setInterval(look, lookEveryMs)
      }
      // Whoever is alike to another must not leave for it.
      const own = (note: SavingNote) => listener(note)
      listeners.add(own)
      if (sent === 'interrupted') own(savingNoteOf(sent))
      return () => {
        listeners.delete(own)
        if (listeners.size === 0) clearInterval(timer)
      }
    },
  }
}
