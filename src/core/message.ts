import type { Call } from './call.ts'
import type { Feedback } from './feedback.ts'
import type { MessageId, Seq } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { FinishReason, Usage } from './usage.ts'

export type UserPart =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'file'
      readonly mediaType: string
      readonly url: string
      readonly filename?: string
    }

/** One version of a message: which it is, and where it stands. */
export interface MessageVersion {
  readonly id: MessageId
  readonly seq: Seq
}

/** What a person wrote, or a system message that came with the thread. */
export interface UserMessage {
  readonly role: 'user' | 'system'
  /** Made by the client, and unique in its thread. */
  readonly id: MessageId
  /** Where it stands in the thread. */
  readonly seq: Seq
  readonly parts: readonly UserPart[]
  /** Whatever the client sent with it. */
  readonly metadata?: Json
  /** All versions of it in the order of making, itself among them (VR1). Absent: it is the only one. */
  readonly versions?: readonly MessageVersion[]
  /** When it was stored, in milliseconds since 1970. */
  readonly createdAt: number
}

export interface TextPart {
  readonly type: 'text' | 'reasoning'
  readonly block: string
  readonly text: string
  readonly state: 'streaming' | 'done'
  readonly providerMetadata?: JsonObject
}

/** Things that arrive whole. */
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
  /** The host's own `data-<name>`; one with the same name and id replaces the earlier one. */
  | { readonly type: 'data'; readonly name: string; readonly id?: string; readonly data: Json }

/** What a person said while the turn ran, where it joined: behind the step that ended before (IN3). */
export interface SteeringPart {
  readonly type: 'steering'
  readonly id: MessageId
  readonly parts: readonly UserPart[]
  readonly metadata?: Json
  /** When it joined, in milliseconds since 1970. */
  readonly at: number
}

export type Part = TextPart | ItemPart | SteeringPart | Call

export interface StepBase {
  readonly index: number
  readonly parts: readonly Part[]
  readonly startedAt: number
  readonly model?: string
  /** Its run died, and another model call went on from so many characters of text that it had shown (AG8). */
  readonly resumedAfter?: number
  /** Models that were tried before the one that answered, and failed without a word (AG5). */
  readonly replaced?: readonly ReplacedModel[]
}

/** A model that failed, why, and which was tried next. */
export interface ReplacedModel {
  readonly model: string
  readonly by: string
  readonly error: TurnError
}

/** One model call (LG11), or one and what carried it on. `abandoned`: broken off and run again as the next step. */
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

export type TurnWait = 'approval' | 'resolution' | 'client'

/** `code` tells kinds of failure apart for programs, `message` is for people. */
export interface TurnError {
  readonly code: string
  readonly message: string
}

/** Which limit an answer reached: of characters of text, of a call's arguments or of files, or of calls or parts. */
export interface AnswerLimit {
  /** `turn`: everything in it together. */
  readonly what: 'text' | 'arguments' | 'files' | 'calls' | 'parts' | 'turn'
  readonly most: number
}

export type TurnEnding =
  | { readonly kind: 'completed' }
  | { readonly kind: 'stopped' }
  /** The token limit cut the output off (ST4), or a limit of the host's own (ST4a). */
  | { readonly kind: 'cut-off'; readonly limit?: AnswerLimit }
  /** Out of steps; it can be continued (ST5). */
  | { readonly kind: 'step-limit' }
  /** The calls ran and no final text came (ST6). */
  | { readonly kind: 'no-answer' }
  /** The user wrote again while it waited (AP8). */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'failed'; readonly error: TurnError }

export type TurnProgress =
  | { readonly status: 'running' }
  | { readonly status: 'waiting'; readonly waitingFor: TurnWait }
  | { readonly status: 'ended'; readonly ending: TurnEnding; readonly endedAt: number }

export type TurnStatus = TurnProgress['status']

/** Why a turn that ran goes on elsewhere: its process died or was late, or gave it back in good order. */
export type ResumedFrom = 'takeover' | 'hand-over'

/** Runs of a turn that broke off one after the other without getting any further (AG7). */
export interface Takeovers {
  readonly count: number
  /** Characters of the attempt that got furthest: one that gets further is progress. */
  readonly furthest: number
}

/** Everything the assistant did in answer to one message: what the fold makes and every view reads. */
export interface Turn {
  readonly role: 'assistant'
  /** Made by the server, and the id of the message in every format. */
  readonly id: MessageId
  /** Where the turn stands in the thread. */
  readonly seq: Seq
  /** The last event that is in it. */
  readonly lastSeq: Seq
  /** The message that it answers; `null` where none is known, as in some old data. */
  readonly replyTo: MessageId | null
  /** Whatever the host stored with it. */
  readonly metadata?: Json
  /** What came with the message for the agent, as the host's schema made it (AG2). */
  readonly choices?: Json
  /** The trace that it began in, as W3C `traceparent`. */
  readonly trace?: string
  /** Produced by a loop of the host's own. */
  readonly recorded?: true
  /** All versions of it in the order of making, itself among them (VR1). Absent: it is the only one. */
  readonly versions?: readonly MessageVersion[]
  /** What people said of it, one entry for each person (FK4). Absent: nobody said anything. */
  readonly feedback?: readonly Feedback[]
  /** While it runs: how often it was taken over since it last made progress. Absent: never. */
  readonly takeovers?: Takeovers
  /** When it began, in milliseconds since 1970. */
  readonly createdAt: number
  /** Whether it runs, waits or has ended, and how. */
  readonly progress: TurnProgress
  /** One per model call, in order. */
  readonly steps: readonly Step[]
  /** How many of its events could not be read (LG7). */
  readonly unreadable: number
}

/** All of a turn that has ended but where it stands, and what was said of it there: what a copy of it has (VR4). */
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

/** Whether a message is what the assistant did, and not what somebody wrote. */
export const isTurn = (message: Message): message is Turn => message.role === 'assistant'

export function* callsOf(turn: Turn): Generator<Call> {
  for (const step of turn.steps) {
    for (const part of step.parts) if (part.type === 'call') yield part
  }
}

/** A read left out a result that is there (PG7): what is made of this turn must not pass for all of it. */
export const hasOmittedOutput = (turn: Turn): boolean =>
  turn.steps.some(({ parts }) =>
    parts.some(
      (part) =>
        part.type === 'call' && part.state === 'succeeded' && part.output.kind === 'omitted',
    ),
  )
