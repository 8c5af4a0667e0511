import type { ModelMessage } from 'ai'
import type { CallId, MessageId } from '../../core/ids.ts'
import type { ContinueText } from '../../views/model-prompt.ts'
import type { Used } from './turn-size.ts'
import type { ModelCall } from '../model/call-model.ts'
import { type CallScope, idempotencyKeyOf, type TurnPlace } from '../call-scope.ts'
import type { Clock } from '../clock.ts'
import type { OffloadFiles } from '../files/offload-files.ts'
import type { FailureTexts } from './failure-texts.ts'
import type { HostPatience } from './host-patience.ts'
import type { AskedModel, RunHooks } from '../telemetry/hooks.ts'
import type { ModelList } from '../model/model-list.ts'
import type { EngineOptions } from '../options/options.ts'
import type { RunLedger } from './run-ledger.ts'
import type { RunLifecycle } from './run-lifecycle.ts'
import type { RunResults } from './result-memory.ts'
import type { TurnAgent } from '../agent/turn-agent.ts'

/** The live work that produces one turn, from the commit that acquires its lease to the one that releases it. */
export interface Run {
  readonly place: TurnPlace
  readonly turnId: MessageId
  readonly options: EngineOptions
  /** With the contexts that `prepareStep` returned last. */
  readonly agent: TurnAgent
  readonly offload: OffloadFiles
  readonly lifecycle: RunLifecycle
  readonly ledger: RunLedger
  readonly clock: Clock
  readonly hooks: RunHooks
  readonly failureTexts: FailureTexts
  readonly signal: AbortSignal
  readonly patience: HostPatience
  /** Whether the run is to continue in another process: then it begins nothing more here. */
  readonly isLeaving: () => boolean
  /** Ends the run in this process. What was stored stays, and the process that acquires the lease continues it. */
  readonly handOver: () => void
  /** The model that is called now. */
  readonly model: AskedModel
  readonly models: ModelList
  /** How the model is asked to continue text that was broken off. */
  readonly continueText: ContinueText
  /** The prompt of the step in flight. */
  readonly prompt: ModelMessage[]
  /** What the turn contained when a person asked to continue it: limits count from there. */
  readonly allowed: Used
  /** What the turn holds of results, beside those of the other running turns. */
  readonly results: RunResults
  /** The prompt of the messages before the turn. */
  readonly initialPrompt: () => Promise<ModelMessage[]>
  /**
   * Called once for each attempt of a step by a model: prepares the prompt and settings, as the agent defines them
   * (AG4).
   */
  readonly prepareStep: () => Promise<void>
  /** The prepared model call; called for each retry of the model. */
  readonly modelCall: () => Promise<ModelCall>
  readonly newCallId: () => CallId
}

/** What is needed to end a turn. */
export type EndableRun = Pick<Run, 'ledger' | 'clock' | 'hooks'>

/** The scope that a call runs with; its `context` is the agent's own, not the tool's. */
export const scopeOf = ({ place, agent, signal, prompt }: Run, callId: CallId): CallScope => ({
  ...place,
  toolCallId: callId,
  idempotencyKey: idempotencyKeyOf(place.threadId, callId),
  abortSignal: signal,
  messages: prompt,
  context: agent.context,
})
