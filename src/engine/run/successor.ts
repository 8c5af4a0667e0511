import type { Seq } from '../../core/ids.ts'
import type { Turn } from '../../core/message.ts'
import type { InputQueue } from '../../core/queued-input.ts'
import type { NewTurn } from './plan-end.ts'

/** What a run begins with, once its turn is stored. */
export interface NextRun {
  readonly turn: Turn
  readonly seq: Seq
  readonly incarnation: string | undefined
  readonly fence: number
  readonly queue: InputQueue
}

/** Prepares and starts the run of the turn that begins with the end of this one. */
export interface Successor {
  /**
   * The id and trace of the next turn, the same on each call until it is launched or discarded. Null: this process
   * has no agent that could answer.
   */
  prepare(): NewTurn | null
  launch(next: NextRun): void
  discard(): void
}
