import type { OwnerId } from '../../core/ids.ts'
import type { UserPart } from '../../core/message.ts'
import type { ThreadToCreate } from '../../store/plan-commit.ts'
import { userTextOf } from '../../views/user-content.ts'
import { badRequestFault } from '../../core/holdfast-error.ts'

/** A thread that is created with its first message. */
export interface NewThreadRequest {
  readonly ownerId: OwnerId
  /** @default the beginning of the message, until a person or a model names the thread (FK3) */
  readonly title?: string
  /**
   * Whether the title is only a placeholder until the thread is named (FK3).
   * @default only where there is no `title`
   */
  readonly isPlaceholder?: true
}

/** Fills in a placeholder title where none was given. */
export function toNewThread(
  { title, ...given }: NewThreadRequest,
  parts: readonly UserPart[],
): Omit<ThreadToCreate, 'at'> {
  if (title === undefined) return { ...given, title: beginningOf(parts), isPlaceholder: true }
  if (typeof title !== 'string') throw badRequestFault('"title" is a text.')
  return { ...given, title }
}

const longestBeginning = 60

function beginningOf(parts: readonly UserPart[]): string {
  const line = userTextOf({ parts }).trim().replace(/\s+/g, ' ')
  return line.length <= longestBeginning
    ? line
    : `${line.slice(0, longestBeginning - 1).trimEnd()}…`
}
