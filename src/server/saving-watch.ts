import type { Holdfast } from '../engine/create-holdfast.ts'
import { type SavingNote, savingNoteOf } from '../views/saving-note.ts'

/** Notifies open streams when writes to the store begin to fail, and when they succeed again. */
export interface SavingWatch {
  /** Called at once if saving is interrupted now; then on every change, until the returned function is called. */
  watch(listener: (note: SavingNote) => void): () => void
}

/** Together with the second that a slow write may take, a client is notified within two. */
const lookEveryMs = 250

/** One timer for all streams, and none while there are none: a write that hangs cannot notify anybody itself. */
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
      // A wrapper per call, so that one listener registered twice is not removed by the first unsubscribe.
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
