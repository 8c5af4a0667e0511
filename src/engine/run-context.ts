import type { ModelMessage } from 'ai'
import type { CallId, MessageId, ThreadId } from '../core/ids.ts'
import type { ContinueText } from '../views/model-prompt.ts'
import type { Used } from './answer-meter.ts'
import type { ModelCall } from './call-model.ts'
import type { Clock } from './clock.ts'
import type { FailureWords } from './failure-words.ts'
import type { RunHooks } from './hooks.ts'
import type { EngineOptions } from './options.ts'
import type { RunLedger } from './run-ledger.ts'
import type { Toolbox } from './tool-policy.ts'

/** The live work that produces one turn, from the lease it has to the lease it gives back. */
export interface Run {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  readonly options: EngineOptions
  readonly toolbox: Toolbox
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
  readonly words: FailureWords
  readonly signal: AbortSignal
  readonly modelId: string
  /** How this model is asked to carry on with text that was broken off. */
  readonly continueText: ContinueText
  /** What the model was sent in the step that is under way. */
  readonly prompt: ModelMessage[]
  /** What the turn had when a person asked for more of it: limits count from there. */
  readonly allowed: Used
  readonly modelCall: () => Promise<ModelCall>
  readonly newCallId: () => CallId
}

/** What it takes to end a turn. */
export type EndableRun = Pick<Run, 'ledger' | 'clock' | 'hooks'>
