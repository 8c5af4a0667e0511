import type { OwnerId } from '../core/ids.ts'
import type { UserPart } from '../core/message.ts'
import type { ThreadToCreate } from '../store/plan-commit.ts'
import { userTextOf } from '../views/user-content.ts'
import { bad } from './check-names.ts'

/** A thread that is made with its first message. */
export interface NewThreadRequest {
  readonly ownerId: OwnerId
  /** @default the beginning of the message, until somebody or a model gives the thread a title (FK3) */
  readonly title?: string
  /** The title only stands for one until somebody gives the thread its own (FK3). @default only where there is no `title` */
  readonly isPlaceholder?: true
}

/** The same with a title, whoever gave it. */
export function toNewThread(
  { title, ...given }: NewThreadRequest,
  parts: readonly UserPart[],
): Omit<ThreadToCreate, 'at'> {
  if (title === undefined) return { ...given, title: beginningOf(parts), isPlaceholder: true }
  if (typeof title !== 'string') throw bad('"title" is a text.')
  return { ...given, title }
}

const longestBeginning = 60

function beginningOf(parts: readonly UserPart[]): string {
  const line = userTextOf({ parts }).trim().replace(/\s+/g, ' ')
  return line.length <= longestBeginning
    ? line
    : `${line.slice(0, longestBeginning - 1).trimEnd()}…`
}
