import type { Turn, TurnEnding } from '../core/message.ts'
import { endingNoteOf } from './ending-note.ts'

/** The note about a turn that did not complete, so that a reload shows the same as the live view. */
export interface UiNotePart {
  readonly type: 'data-holdfast'
  readonly id: 'holdfast'
  readonly data: {
    readonly status: TurnEnding['kind'] | 'running' | 'waiting'
    readonly message: string
    readonly canContinue: boolean
  }
}

/**
 * The note about the turn's end. A client cannot remove a part: in a turn that was continued, the note of its former end
 * stays where it was, emptied or with the note of the present end.
 */
export function projectNotePart({ progress, continuedAfter }: Turn): UiNotePart | null {
  const status = progress.status === 'ended' ? progress.ending.kind : progress.status
  const note = progress.status === 'ended' ? endingNoteOf(progress.ending) : null
  if (note !== null) return toNotePart({ status, ...note })
  const emptied = { status, message: '', canContinue: false }
  return continuedAfter === undefined ? null : toNotePart(emptied)
}

const toNotePart = (data: UiNotePart['data']): UiNotePart => ({
  type: 'data-holdfast',
  id: 'holdfast',
  data,
})
