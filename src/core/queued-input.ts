import type { MessageId } from './ids.ts'
import type { Json } from './json.ts'
import type { UserPart } from './message.ts'

/**
 * How an input meets a turn that runs: it waits for its own turn, joins the running one at the next step, or stops
 * the running one and is answered instead.
 */
export type InputMode = 'queue' | 'steer' | 'interrupt'

/** What a person said while a turn ran, as it came. */
export interface NewInput {
  /** The id that its message gets. */
  readonly id: MessageId
  readonly mode: InputMode
  readonly parts: readonly UserPart[]
  readonly metadata?: Json
  /** For the agent of its answer, as the host's schema made it (AG2). */
  readonly choices?: Json
}

/** An input that waits. It has no place in the thread until its turn begins (IN2). */
export interface QueuedInput extends NewInput {
  /** Kept back by a stop until a person sends it on (IN5). */
  readonly held: boolean
  /** When it was stored, in milliseconds since 1970. */
  readonly at: number
}

/** The inputs of a thread that wait, in the order in which they are answered. */
export type InputQueue = readonly QueuedInput[]
