import { readUserRow as readSharedRow } from '../user-row.ts'
import type { MessageRow } from './ledger-columns.ts'

/** The fact that a user's row stands for. */
export const readUserRow = ({ messageId: id, seq, role, at, content: body }: MessageRow) =>
  readSharedRow({ id, seq, role, at, body })
