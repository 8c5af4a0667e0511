import type { CallInput, CallOrigin, CallOutcome, Decision } from '../core/call.ts'
import type { Feedback } from '../core/feedback.ts'
import type { CallId } from '../core/ids.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ItemPart, SteeringPart, TurnEnding, UserMessage, UserPart } from '../core/message.ts'

/** The result of every reader of old data, from which the events are then made. */
export type OldMessage = OldUserMessage | OldTurn

export interface OldUserMessage {
  readonly kind: 'user'
  readonly id?: string
  readonly at?: number
  readonly role: UserMessage['role']
  readonly parts: readonly UserPart[]
  readonly metadata?: Json
}

export interface OldTurn {
  readonly kind: 'turn'
  readonly id?: string
  /** Ids of the rows and messages that it consists of, by which it is recognised again. */
  readonly otherIds?: readonly string[]
  readonly at?: number
  readonly metadata?: Json
  /** Only of stored messages: choices from outside have not been validated (AG2). */
  readonly choices?: Json
  readonly feedback?: readonly Feedback[]
  readonly steps: readonly OldStep[]
  /** Set where the data contains how it ended; otherwise that is derived from its steps. */
  readonly ending?: TurnEnding
  /** Set where the data contains only whether it is complete. */
  readonly isComplete?: boolean
}

export interface OldStep {
  readonly parts: readonly OldPart[]
  readonly index?: number
  readonly at?: number
  /** `draft`: an attempt that was broken off and run again. `broken`: it ended too early. */
  readonly flaw?: 'draft' | 'broken'
}

export type OldPart = OldText | ItemPart | OldSteering | OldCall

/** An input that joined the running turn (IN3). */
export type OldSteering = Omit<SteeringPart, 'at'> & {
  readonly at?: number
  /** The index of the step that it followed. */
  readonly step?: number
}

/** A part of a message that has not been divided into steps. */
export type MessagePart = OldPart | { readonly type: 'step-start' }

export interface OldText {
  readonly type: 'text' | 'reasoning'
  readonly text: string
  readonly block?: string
  readonly providerMetadata?: JsonObject
}

export interface OldCall extends Omit<CallOrigin, 'id' | 'providerCallId'> {
  readonly type: 'call'
  /** Its id in the data. */
  readonly id?: string
  /** Its id in the store, if it is stored already. */
  readonly ownId?: CallId
  readonly input: CallInput
  readonly decision?: ReadDecision
  /** Approval was required, whether or not it was decided. */
  readonly needsApproval?: true
  /** `open`: it did not end (LE4). `waiting`: it was not decided. */
  readonly outcome: CallOutcome | 'open' | 'waiting'
  /** With an unknown outcome: a person chose to continue without it. */
  readonly wasSkipped?: true
  /** Its partial output when it was broken off. */
  readonly partial?: Json
  readonly resultProviderMetadata?: JsonObject
  readonly step?: number
  readonly createdAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
}

export const hasEnded = ({ outcome }: OldCall): boolean => typeof outcome !== 'string'

export type ReadDecision = Pick<Decision, 'kind' | 'feedback' | 'automatic'>

/** Reports a repair of the message or row that is being read. */
export type ReportMend = (what: string) => void

/** The report of reading old data, with positions: `messages[3]` is an index in the list that was read. */
export interface Report {
  mend(index: number, what: string): void
  guess(index: number, what: string): void
  fail(index: number, why: string): void
  readonly mended: readonly Mended[]
  readonly guessed: readonly Mended[]
  readonly failed: readonly Failed[]
  /** How many more there were than are listed. */
  readonly unlisted: Readonly<Record<ReportKind, number>>
}

export type ReportKind = 'mended' | 'guessed' | 'failed'

/** Stored differently from the data; or a guess, where the data leaves it open. */
export interface Mended {
  readonly where: string
  readonly what: string
}
/** Not stored. */
export interface Failed {
  readonly where: string
  readonly why: string
}

/** `most`: of each kind. A message of 8 MB can have a million problems, which would take a hundred times its size. */
export function createReport(
  placeOf: (index: number) => string = (index) => `messages[${index}]`,
  most = Number.POSITIVE_INFINITY,
): Report {
  const mended: Mended[] = []
  const guessed: Mended[] = []
  const failed: Failed[] = []
  const unlisted = { mended: 0, guessed: 0, failed: 0 }
  return {
    mend(index, what) {
      if (mended.length < most) mended.push({ where: placeOf(index), what })
      else unlisted.mended++
    },
    guess(index, what) {
      if (guessed.length < most) guessed.push({ where: placeOf(index), what })
      else unlisted.guessed++
    },
    fail(index, why) {
      if (failed.length < most) failed.push({ where: placeOf(index), why })
      else unlisted.failed++
    },
    mended,
    guessed,
    failed,
    unlisted,
  }
}
