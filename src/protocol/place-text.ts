import type { LedgerEvent } from '../core/event.ts'
import { fingerprint } from '../core/fingerprint.ts'
import type { Change } from '../core/fold-thread.ts'
import type { ThreadPlace } from '../core/thread-place.ts'

/** A place as clients see it: the `id:` of a frame, `place` of a page, `after`, `Last-Event-ID`. */
export const toPlaceText = ({ seq, incarnation, mark, subject }: ThreadPlace): string =>
  `${seq}-${incarnation}-${mark}-${subject}`

const pattern = /^(\d{1,15})(?:-([0-9a-z]{0,32})-([0-9a-z]{0,32})-([0-9a-z]{0,32}))?$/

/** Null if it is not a place. A bare seq is a place with unknown incarnation and mark. */
export function parsePlaceText(text: string): ThreadPlace | null {
  const match = pattern.exec(text)
  if (match === null) return null
  const [, seq, incarnation = '', mark = '', subject = ''] = match
  return { seq: Number(seq), incarnation, mark, subject }
}

/** The reader's place after a change. */
export function placeAfter(
  change: Change & { readonly mark?: string },
  incarnation: string,
): ThreadPlace {
  const subject = change.kind === 'turn' ? change.turn.id : subjectOf(change.event)
  return {
    ...{ seq: change.seq, incarnation, mark: change.mark ?? '' },
    subject: subject === undefined ? '' : fingerprint(subject),
  }
}

function subjectOf(event: LedgerEvent): string | undefined {
  if ('turnId' in event) return event.turnId
  return 'messageId' in event ? event.messageId : undefined
}
