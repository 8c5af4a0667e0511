/**
 * Sent to a client that sends a message after an answer which is not in the thread: the database was restored, or the thread
 * was made again under its id, and the client shows what is no longer stored (OP6).
 */
export interface HistoryNote {
  readonly status: 'other-history'
  readonly message: string
  readonly canContinue: false
}

export const otherHistoryNote: HistoryNote = {
  status: 'other-history',
  message:
    'This conversation is stored differently from what is shown here. Reload it to see what is stored.',
  canContinue: false,
}
