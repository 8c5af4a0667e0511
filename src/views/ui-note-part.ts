import type { Turn, TurnEnding } from '../core/message.ts'
import { endingNoteOf } from './ending-note.ts'

/** Says how a turn ended that did not complete, so that a reload says what the live view said. */
export interface UiNotePart {
  readonly type: 'data-holdfast'
  readonly id: 'holdfast'
  readonly data: {
    readonly status: TurnEnding['kind'] | 'running' | 'waiting'
    readonly message: string
    readonly canContinue: boolean
  }
}

export function projectNotePart({ progress }: Turn): UiNotePart | null {
  const note = progress.status === 'ended' ? endingNoteOf(progress.ending) : null
  return progress.status !== 'ended' || note === null
    ? null
    : toNotePart({ status: progress.ending.kind, ...note })
}

/** For a client that has the note of an earlier ending of the turn, which has since gone on. */
export function withdrawnNotePart({ progress }: Turn): UiNotePart {
  const status = progress.status === 'ended' ? progress.ending.kind : progress.status
  return toNotePart({ status, message: '', canContinue: false })
}

const toNotePart = (data: UiNotePart['data']): UiNotePart => ({
  type: 'data-holdfast',
  id: 'holdfast',
  data,
})
