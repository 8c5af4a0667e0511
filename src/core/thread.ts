import type { ForkOrigin } from './event.ts'
import type { OwnerId, Seq, ThreadId } from './ids.ts'
import type { JsonObject } from './json.ts'
import type { InputQueue } from './queued-input.ts'

/**
 * The longest title, in characters, whatever its source: a list of 200 threads is one response, and its
 * titles must not make it larger than a page may be (OP7a). Stores cut longer titles of older versions on
 * read.
 */
export const longestTitle = 500

export type { ForkOrigin }

/** `person`: also the host, an import, and every title stored before this field existed. */
export type TitleGiver = 'person' | 'model'

/** A thread as the list of threads returns it. */
export interface ListedThread {
  readonly id: ThreadId
  readonly ownerId: OwnerId
  readonly title: string
  /** Who set the title. Null: it was not set, and is empty or the beginning of the first message (FK3). */
  readonly titledBy: TitleGiver | null
  /** Pinned by its owner: it is in the list of pinned threads too (FK2). */
  readonly pinned: boolean
  /** Left out of the list until a message is added to it or its owner takes it out of the archive (FK2). */
  readonly archived: boolean
  /** The host's own data. No part of the conversation: no event contains it, and it is not sent to the model. */
  readonly metadata: JsonObject
  readonly createdAt: number
  /** When the last message or turn began or ended. For people; the list is ordered by `activity`. */
  readonly updatedAt: number
  /** The number of the thread's last change (LG1). */
  readonly seq: Seq
  /** Its position in the list of threads: a counter of the whole store, without ties. */
  readonly activity: number
  /** Absent: it was not forked. */
  readonly forkedFrom?: ForkOrigin
}

/** A thread as a store keeps it, without its messages. */
export interface ThreadRecord extends ListedThread {
  /** The inputs that wait for their turn (IN2). */
  readonly queue: InputQueue
  /** Random, drawn when the thread was made: another thread under the same id has another one (OP6). */
  readonly incarnation?: string
}
