import type { Call, Superseding } from './call.ts'
import type { Feedback } from './feedback.ts'
import type { CallId, MessageId, Seq } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { FinishReason, Usage } from './usage.ts'

/** A part of a person's message: text, or a file by its URL. */
export type UserPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file'
      readonly mediaType: string
      readonly url: string
      readonly filename?: string
    }

/** One version of a message: its id and its position. */
export interface MessageVersion {
  readonly id: MessageId
  readonly seq: Seq
}

/** What a person wrote, or a system message that came with the thread. */
export interface UserMessage {
  readonly role: 'user' | 'system'
  /** Made by the client, and unique in its thread. */
  readonly id: MessageId
  /** Its position in the thread. */
  readonly seq: Seq
  readonly parts: readonly UserPart[]
  /** The metadata that the client sent with it. */
  readonly metadata?: Json
  /** All versions of it, oldest first, including itself (VR1). Absent: it is the only one. */
  readonly versions?: readonly MessageVersion[]
  /** When it was stored, in milliseconds since 1970. */
  readonly createdAt: number
}

/** Text or reasoning of a model, which grows while it streams. */
export interface TextPart {
  readonly type: 'text' | 'reasoning'
  readonly block: string
  readonly text: string
  readonly state: 'streaming' | 'done'
  readonly providerMetadata?: JsonObject
}

/** Parts that arrive whole, in one event. */
export type ItemPart =
  | {
      readonly type: 'source-url'
      readonly sourceId: string
      readonly url: string
      readonly title?: string
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'source-document'
      readonly sourceId: string
      readonly mediaType: string
      readonly title: string
      readonly filename?: string
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'file' | 'reasoning-file'
      readonly url: string
      readonly mediaType: string
      readonly providerMetadata?: JsonObject
    }
  | {
      readonly type: 'custom'
      readonly kind: string
      readonly providerMetadata?: JsonObject
    }
  /** The host's own `data-<name>`; a part with the same name and id replaces the earlier one. */
  | { readonly type: 'data'; readonly name: string; readonly id?: string; readonly data: Json }

/** A person's input that joined the running turn, after the step that had ended before it (IN3). */
export interface SteeringPart {
  readonly type: 'steering'
  readonly id: MessageId
  readonly parts: readonly UserPart[]
  readonly metadata?: Json
  /** When it joined, in milliseconds since 1970. */
  readonly at: number
}

/** A part of a step, in the order in which they happened. */
export type Part = TextPart | ItemPart | SteeringPart | Call

/** The fields that a step has in every status. */
export interface StepBase {
  /** From 0, in the order of the turn. */
  readonly index: number
  readonly parts: readonly Part[]
  readonly startedAt: number
  /** The id of the model that answered. @default not known, as in some imports */
  readonly model?: string
  /** Set where the step's run died: another model call continued after this many characters of shown text (AG8). */
  readonly resumedAfter?: number
  /** Models that were tried before the one that answered, and failed before their first part (AG5). */
  readonly replaced?: readonly ReplacedModel[]
}

/** A model that failed, why, and which was tried next. */
export interface ReplacedModel {
  readonly model: string
  readonly by: string
  readonly error: TurnError
}

/**
 * One model call (LG11), or one and the call that continued it. `abandoned`: broken off, and run again as the
 * next step.
 */
export type Step = StepBase &
  (
    | { readonly status: 'open' }
    | { readonly status: 'abandoned'; readonly endedAt: number; readonly error?: TurnError }
    | {
        readonly status: 'ended'
        readonly endedAt: number
        readonly finishReason: FinishReason
        readonly usage?: Usage
        readonly providerMetadata?: JsonObject
      }
  )

/**
 * What a waiting turn waits for: a person's approval, a person's resolution, or an output of a client-side
 * tool.
 */
export type TurnWait = 'approval' | 'resolution' | 'client'

/** `code` is for programs, `message` is for people. */
export interface TurnError {
  readonly code: string
  readonly message: string
}

/**
 * The limit that an answer reached: characters of text, of a call's arguments or of files, or a number of
 * calls or parts.
 */
export interface AnswerLimit {
  /** `turn`: everything in it together. */
  readonly what: 'text' | 'arguments' | 'files' | 'calls' | 'parts' | 'turn'
  readonly most: number
}

/** How a turn ended. */
export type TurnEnding =
  | { readonly kind: 'completed' }
  /** By a person (ST1). */
  | { readonly kind: 'stopped' }
  /** The token limit cut the output off (ST4), or a limit of the host's own (ST4a). */
  | { readonly kind: 'cut-off'; readonly limit?: AnswerLimit }
  /** Out of steps; it can be continued (ST5). */
  | { readonly kind: 'step-limit' }
  /** The calls ran and no final text came (ST6). */
  | { readonly kind: 'no-answer' }
  /** The user wrote again while it waited (AP8), or `by` tells what else superseded it. */
  | { readonly kind: 'superseded'; readonly by?: Superseding }
  /** Its run broke off, for example because its process died, and was not continued. */
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: TurnError }

/** Whether a turn that ended so can be continued, as the last message of its thread: all but complete ones (ST5). */
export const canContinue = ({ kind }: TurnEnding): boolean => kind !== 'completed'

/** Whether people are told of this end: a complete turn needs no note, and one that was superseded has a message after it. */
export const hasEndingNote = ({ kind }: TurnEnding): boolean =>
  kind !== 'completed' && kind !== 'superseded'

/** Whether a turn runs, waits or has ended, with what belongs to that status. */
export type TurnProgress =
  | { readonly status: 'running' }
  | { readonly status: 'waiting'; readonly waitingFor: TurnWait }
  | { readonly status: 'ended'; readonly ending: TurnEnding; readonly endedAt: number }

/** The status of a turn. */
export type TurnStatus = TurnProgress['status']

/**
 * Why a running turn continues in another process: `takeover`, its process died or was late; `hand-over`, its
 * process released it in good order.
 */
export type ResumedFrom = 'takeover' | 'hand-over'

/** Consecutive runs of a turn that broke off without progress (AG7). */
export interface Takeovers {
  readonly count: number
  /** Characters of text of the attempt that got furthest: an attempt that gets further counts as progress. */
  readonly furthest: number
}

/** Everything the assistant did in answer to one message: what the fold makes and every view reads. */
export interface Turn {
  readonly role: 'assistant'
  /** Made by the server, and the id of the message in every format. */
  readonly id: MessageId
  /** The turn's position in the thread. */
  readonly seq: Seq
  /** The seq of the last event that is folded into it. */
  readonly lastSeq: Seq
  /** The message that it answers; `null` where none is known, as in some imported data. */
  readonly replyTo: MessageId | null
  /** The metadata that the host stored with it. */
  readonly metadata?: Json
  /** The choices of the request for this turn, as the host's schema returned them (AG2). */
  readonly choices?: Json
  /** The trace that it began in, as W3C `traceparent`. */
  readonly trace?: string
  /** Produced by a loop of the host's own. */
  readonly recorded?: true
  /** All versions of it, oldest first, including itself (VR1). Absent: it is the only one. */
  readonly versions?: readonly MessageVersion[]
  /** Feedback, one entry per person (FK4). Absent: there is none. */
  readonly feedback?: readonly Feedback[]
  /** While it runs: the takeovers since it last made progress. Absent: none. */
  readonly takeovers?: Takeovers
  /**
   * How many steps it had when it first ended and was then continued: there is the note of that end in the
   * message of a client that followed it (FD1). Absent: it was never continued.
   */
  readonly continuedAfter?: number
  /** When it began, in milliseconds since 1970. */
  readonly createdAt: number
  /** Whether it runs, waits or has ended, and how. */
  readonly progress: TurnProgress
  /** One per model call, in order. */
  readonly steps: readonly Step[]
  /** How many of its events could not be read (LG7). */
  readonly unreadable: number
}

/**
 * An ended turn without its position and without what was added to it in its thread: what a copy of it keeps
 * (VR4).
 */
export type TurnCopy = Omit<
  Turn,
  | 'role'
  | 'id'
  | 'seq'
  | 'lastSeq'
  | 'createdAt'
  | 'versions'
  | 'feedback'
  | 'takeovers'
  | 'progress'
> & { readonly progress: Extract<TurnProgress, { readonly status: 'ended' }> }

/** A message of a thread. */
export type Message = UserMessage | Turn

/** Whether a message is a turn of the assistant, and not a user's or a system message. */
export const isTurn = (message: Message): message is Turn => message.role === 'assistant'

/** The calls of a turn, in call order. */
export function callsOf(turn: Turn): readonly Call[] {
  const calls: Call[] = []
  for (const { parts } of turn.steps) {
    for (const part of parts) if (part.type === 'call') calls.push(part)
  }
  return calls
}

const callPositions = new WeakMap<Step, ReadonlyMap<CallId, number>>()

/**
 * The index of each call within its step's parts. Cached per step: a step that no event changed is the same object
 * from one commit to the next, so a long turn is not searched again for each event.
 */
export function callPositionsIn(step: Step): ReadonlyMap<CallId, number> {
  const known = callPositions.get(step)
  if (known !== undefined) return known
  const positions = new Map<CallId, number>()
  for (const [index, part] of step.parts.entries()) {
    if (part.type === 'call') positions.set(part.id, index)
  }
  callPositions.set(step, positions)
  return positions
}

/** A call of a turn by its id. From the last step backwards: most events concern a call of one of the last steps. */
export function findCall({ steps }: Turn, id: CallId): Call | undefined {
  for (let last = steps.length - 1; last >= 0; last--) {
    const step = steps[last] as Step
    const index = callPositionsIn(step).get(id)
    if (index !== undefined) return step.parts[index] as Call
  }
  return undefined
}

/**
 * Whether a lazy read left out a result (PG7): a view of such a turn must not be stored or sent as the
 * complete one.
 */
export const hasOmittedOutput = (turn: Turn): boolean =>
  turn.steps.some(({ parts }) =>
    parts.some(
      (part) =>
        part.type === 'call' && part.state === 'succeeded' && part.output.kind === 'omitted',
    ),
  )
