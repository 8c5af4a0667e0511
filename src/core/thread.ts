import type { ForkOrigin } from './event.ts'
import type { OwnerId, Seq, ThreadId } from './ids.ts'
import type { JsonObject } from './json.ts'
import type { InputQueue } from './queued-input.ts'

/**
 * The longest title, in characters, wherever it comes from: a list of 200 threads is one answer, and must not be larger
 * than a page may be because of its titles (OP7a). Stores cut what older versions let in when it is read.
 */
export const longestTitle = 500

export type { ForkOrigin }

/** `person`: also the host, an import, and whoever named it before this was kept. */
export type TitleGiver = 'person' | 'model'

/** A thread as a list of threads has it. */
export interface ListedThread {
  readonly id: ThreadId
  readonly ownerId: OwnerId
  readonly title: string
  /** Who gave the title. Null: nobody has, it is empty or the beginning of the first message (FK3). */
  readonly titledBy: TitleGiver | null
  /** Kept at hand by its owner (FK2). */
  readonly pinned: boolean
  /** Put away: left out of the list until somebody writes in it or takes it back (FK2). */
  readonly archived: boolean
  /** What the host keeps with it. No part of the conversation: no event tells of it, and the model is not sent it. */
  readonly metadata: JsonObject
  readonly createdAt: number
  /** When the last message or turn began or ended. For people; the list is ordered by `activity`. */
  readonly updatedAt: number
  /** The number of the thread's last change (LG1). */
  readonly seq: Seq
  /** Its place in the list of threads: a counter of the whole store, without ties. */
  readonly activity: number
  /** Absent: it was not forked. */
  readonly forkedFrom?: ForkOrigin
}

/** A thread as a store keeps it, without its messages. */
export interface ThreadRecord extends ListedThread {
  /** The inputs that wait for their turn (IN2). */
  readonly queue: InputQueue
}
