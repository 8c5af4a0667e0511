import type { CallInput, CallOrigin, CallOutcome, Decision } from '../core/call.ts'
import type { Feedback } from '../core/feedback.ts'
import type { CallId } from '../core/ids.ts'
import type { Json, JsonObject } from '../core/json.ts'
import type { ItemPart, SteeringPart, TurnEnding, UserMessage, UserPart } from '../core/message.ts'

/** What every reader of old data makes, and what the events are then written from. */
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
  /** Ids of rows and messages that are in it, by which it may be known again. */
  readonly otherIds?: readonly string[]
  readonly at?: number
  readonly metadata?: Json
  /** Only of what is stored here: data from outside has not been checked (AG2). */
  readonly choices?: Json
  readonly feedback?: readonly Feedback[]
  readonly steps: readonly OldStep[]
  /** Where the data says how it ended; otherwise that is seen from its steps. */
  readonly ending?: TurnEnding
  /** Where the data says no more than whether it is all there. */
  readonly isComplete?: boolean
}

export interface OldStep {
  readonly parts: readonly OldPart[]
  readonly index?: number
  readonly at?: number
  /** `draft`: an attempt that was broken off and made again. `broken`: it ended too early. */
  readonly flaw?: 'draft' | 'broken'
}

export type OldPart = OldText | ItemPart | OldSteering | OldCall

/** What a person said while the turn was made (IN3). */
export type OldSteering = Omit<SteeringPart, 'at'> & { readonly at?: number }

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
  /** The id that the data gives it. */
  readonly id?: string
  /** The id that it has here already. */
  readonly ownId?: CallId
  readonly input: CallInput
  readonly decision?: ReadDecision
  /** It had to be approved, whether or not anyone decided. */
  readonly needsApproval?: true
  /** `open`: nobody finished it (LE4). `waiting`: nobody decided on it. */
  readonly outcome: CallOutcome | 'open' | 'waiting'
  /** With an unknown outcome: a person chose to go on without knowing it. */
  readonly wasSkipped?: true
  /** What it had given when it was broken off. */
  readonly partial?: Json
  readonly resultProviderMetadata?: JsonObject
  readonly step?: number
  readonly createdAt?: number
  readonly startedAt?: number
  readonly endedAt?: number
}

export const hasEnded = ({ outcome }: OldCall): boolean => typeof outcome !== 'string'

export type ReadDecision = Pick<Decision, 'kind' | 'feedback' | 'automatic'>

/** Says what was mended in the message or row that is being read. */
export type ReportMend = (what: string) => void

/** What reading old data has to tell, and where: `messages[3]` is a place in the list that was read. */
export interface Report {
  mend(index: number, what: string): void
  guess(index: number, what: string): void
  fail(index: number, why: string): void
  readonly mended: readonly Mended[]
  readonly guessed: readonly Mended[]
  readonly failed: readonly Failed[]
}

/** Stored, but otherwise than it stood there; or a guess, where the data does not say. */
export interface Mended {
  readonly where: string
  readonly what: string
}
/** Not stored. */
export interface Failed {
  readonly where: string
  readonly why: string
}

export function createReport(
  placeOf: (index: number) => string = (index) => `messages[${index}]`,
): Report {
  const mended: Mended[] = []
  const guessed: Mended[] = []
  const failed: Failed[] = []
  return {
    mend: (index, what) => mended.push({ where: placeOf(index), what }),
    guess: (index, what) => guessed.push({ where: placeOf(index), what }),
    fail: (index, why) => failed.push({ where: placeOf(index), why }),
    mended,
    guessed,
    failed,
  }
}
