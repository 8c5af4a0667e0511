import type { CallState } from '../core/call.ts'
import type { TurnEnding } from '../core/message.ts'
import type { UnsuccessfulCall } from '../views/wording.ts'

/** Every word that the widgets say. A host replaces what it likes, for another language or voice. */
export interface Strings {
  readonly thinking: string
  readonly working: (tool: string) => string
  readonly used: (count: number) => string
  readonly failedOf: (failed: number, total: number) => string
  readonly stopped: string
  /** Nothing was used, because a person said no to all of it. */
  readonly declined: string
  readonly waiting: string
  readonly unknown: string
  readonly arguments: string
  readonly result: string
  readonly copyJson: string
  readonly copied: string
  readonly copy: string
  readonly timeline: string
  readonly step: (number: number) => string
  readonly reasoning: string
  readonly sources: string
  readonly file: string
  readonly table: string
  readonly task: string
  readonly attempt: string
  readonly state: Readonly<Record<CallState, string>>
  /** What became of a call that did not succeed. */
  readonly callError: (call: UnsuccessfulCall) => string
  /** What is said of a turn that did not end as it should; null: nothing. */
  readonly ending: (ending: TurnEnding) => string | null
  readonly duration: (ms: number) => string

  readonly approvalTitle: (tool: string) => string
  readonly accept: string
  readonly reject: string
  readonly acceptAll: (count: number) => string
  readonly rejectAll: (count: number) => string
  readonly feedback: string
  readonly decidedBy: (who: string, decision: 'accepted' | 'rejected') => string
  readonly unknownTitle: (tool: string) => string
  readonly unknownBody: string
  readonly retry: string
  readonly done: string
  readonly skip: string

  readonly loadResult: (size: string) => string
  readonly cardFailed: string
  readonly items: (count: number) => string
  readonly fields: (count: number) => string
  readonly more: (count: number) => string
  readonly moreCharacters: (count: number) => string

  readonly message: string
  readonly you: string
  readonly assistant: string
  readonly messages: string
  readonly send: string
  readonly stop: string
  readonly continue: string
  readonly regenerate: string
  readonly edit: string
  readonly save: string
  readonly cancel: string
  readonly latest: string
  readonly loading: string
  readonly loadingOlder: string
  /** Stands on paper where older messages were not loaded. */
  readonly olderLeftOut: string
  readonly sendFailed: string
  readonly tryAgain: string
  readonly discard: string
  readonly reconnecting: string
  /** The server cannot store anything right now. */
  readonly savingInterrupted: string
  readonly offline: string
  readonly refused: string
}
