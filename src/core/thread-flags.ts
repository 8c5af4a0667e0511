import type { LedgerEvent, NewEvent } from './event.ts'

/** Whether a thread is pinned and archived; an absent flag is unknown (FK2). */
export interface ThreadFlags {
  readonly pinned?: boolean
  readonly archived?: boolean
}

/** The one rule of both flags: `thread-flagged` sets them, and a message takes the thread out of the archive. */
export function foldFlags(before: ThreadFlags, event: NewEvent | LedgerEvent): ThreadFlags {
  const { pinned, archived } = before
  switch (event.type) {
    case 'thread-flagged':
      return withKnown(event.pinned ?? pinned, event.archived ?? archived)
    case 'message-added':
      return withKnown(pinned, false)
    default:
      return before
  }
}

const withKnown = (pinned: boolean | undefined, archived: boolean | undefined): ThreadFlags => ({
  ...(pinned === undefined ? {} : { pinned }),
  ...(archived === undefined ? {} : { archived }),
})
