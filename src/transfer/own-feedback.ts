import type { OwnerId } from '../core/ids.ts'
import type { OldMessage, Report } from '../import/old-message.ts'

/**
 * The messages without the feedback that names somebody else than the owner of the thread (FK4): whoever imports a file
 * has authenticated as one person, and could otherwise rate answers in the name of all others. Each message that loses
 * one is reported.
 */
export const withOwnFeedback = <
  Read extends { readonly index: number; readonly message: OldMessage },
>(
  messages: readonly Read[],
  ownerId: OwnerId,
  report: Report,
): readonly Read[] =>
  messages.map((read) => {
    const { message } = read
    if (message.kind !== 'turn' || message.feedback === undefined) return read
    const { feedback, ...rest } = message
    const own = feedback.filter(({ by }) => by === ownerId)
    if (own.length === feedback.length) return read
    report.mend(read.index, 'Feedback in the name of another person was left out.')
    return { ...read, message: own.length === 0 ? rest : { ...rest, feedback: own } }
  })
