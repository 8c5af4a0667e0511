import type { MessageId } from './ids.ts'
import type { Json } from './json.ts'
import type { UserPart } from './message.ts'

/**
 * What an input does while a turn runs: `queue` waits for its own turn, `steer` joins the running turn at its
 * next step, `interrupt` stops the running turn and is answered next.
 */
export type InputMode = 'queue' | 'steer' | 'interrupt'

/** An input as it arrived while a turn ran. */
export interface NewInput {
  /** The id that its message gets. */
  readonly id: MessageId
  readonly mode: InputMode
  readonly parts: readonly UserPart[]
  readonly metadata?: Json
  /** The choices of the request for its turn, as the host's schema returned them (AG2). */
  readonly choices?: Json
}

/** An input that waits. It has no position in the thread until its turn begins (IN2). */
export interface QueuedInput extends NewInput {
  /** Kept back by a stop until a person sends it on (IN5). */
  readonly held: boolean
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/** The inputs of a thread that wait, in the order in which they are answered. */
export type InputQueue = readonly QueuedInput[]
