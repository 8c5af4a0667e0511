import type { ModelMessage } from 'ai'
import type { CallId, MessageId } from '../core/ids.ts'
import type { ContinueText } from '../views/model-prompt.ts'
import type { Used } from './answer-meter.ts'
import type { ModelCall } from './call-model.ts'
import { type CallScope, idempotencyKeyOf, type TurnPlace } from './call-scope.ts'
import type { Clock } from './clock.ts'
import type { EngineFiles } from './files.ts'
import type { FailureWords } from './failure-words.ts'
import type { AskedModel, RunHooks } from './hooks.ts'
import type { ModelList } from './model-list.ts'
import type { EngineOptions } from './options.ts'
import type { RunLedger } from './run-ledger.ts'
import type { RunLifecycle } from './run-lifecycle.ts'
import type { TurnAgent } from './turn-agent.ts'

/** The live work that produces one turn, from the lease it has to the lease it gives back. */
export interface Run {
  readonly place: TurnPlace
  readonly turnId: MessageId
  readonly options: EngineOptions
  /** With the contexts that `prepareStep` gave last. */
  readonly agent: TurnAgent
  readonly files: EngineFiles
  readonly lifecycle: RunLifecycle
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
  readonly words: FailureWords
  readonly signal: AbortSignal
  /** Whether the run is to go on elsewhere: then it begins nothing more here. */
  readonly isLeaving: () => boolean
  /** Ends the run here. What was stored stays, and whoever takes the lease carries it on. */
  readonly handOver: () => void
  /** The model that is asked now. */
  readonly model: AskedModel
  readonly models: ModelList
  /** How it is asked to carry on with text that was broken off. */
  readonly continueText: ContinueText
  /** What the model was sent in the step that is under way. */
  readonly prompt: ModelMessage[]
  /** What the turn had when a person asked for more of it: limits count from there. */
  readonly allowed: Used
  /** What stands before the turn. */
  readonly initialPrompt: () => Promise<ModelMessage[]>
  /** Once for each try of a step by a model: what it is to be sent, as the agent says (AG4). */
  readonly prepareStep: () => Promise<void>
  /** The call that was prepared, each time that the model is tried. */
  readonly modelCall: () => Promise<ModelCall>
  readonly newCallId: () => CallId
}

/** What it takes to end a turn. */
export type EndableRun = Pick<Run, 'ledger' | 'clock' | 'hooks'>

/** For whom a call runs; with the agent's own context, which is not every tool's. */
export const scopeOf = ({ place, agent, signal, prompt }: Run, callId: CallId): CallScope => ({
  ...place,
  toolCallId: callId,
  idempotencyKey: idempotencyKeyOf(place.threadId, callId),
  abortSignal: signal,
  messages: prompt,
  context: agent.context,
})
