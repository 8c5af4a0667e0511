import type { FlexibleSchema, LanguageModel, ModelMessage } from 'ai'
import type { MessageId, ThreadId } from '../../core/ids.ts'
import type { Message } from '../../core/message.ts'
import type { Store } from '../../store/store.ts'
import type { ContinueText } from '../../views/model-prompt.ts'
import type { Agent, AgentOption, Unchecked } from '../agent/agent.ts'
import type { CallSettings } from '../model/call-model.ts'
import type { Clock } from '../clock.ts'
import type { FileOptions } from '../files/file-options.ts'
import type { ErrorText } from '../run/failure-texts.ts'
import type { Hooks } from '../telemetry/hooks.ts'
import type { WhenBusy } from '../../protocol/chat-body.ts'
import type { ModelsOption } from '../agent/offered-models.ts'
import type { TitleOptions } from '../threads/title-options.ts'

/**
 * The options of `createHoldfast`. The options of an `Agent` (`model`, `tools`, `temperature` …) given here are
 * shorthand for an `agent` that is an object; together with `agent` they are refused.
 *
 * Without any `model` this process answers nothing itself: every turn comes from `record`, the repository or an import,
 * and `send`, `regenerate` and `continue` are refused as `no-model`.
 */
export interface HoldfastOptions<Context = Unchecked, Choices = Unchecked> extends Partial<
  Agent<Context>
> {
  /** Where everything is stored: `sqlite(file)`, `postgres(url)`, `memory()`, or your own store. */
  readonly store: Store
  /**
   * The agent that answers turns: an object for all of them, or a function of the turn's scope (AG1).
   * @default an agent made of the options at this level
   */
  readonly agent?: AgentOption<Context, NoInfer<Choices>>
  /**
   * How long a function `agent` may take, and an asynchronous check of `choices` or of what people answer a tool with. A turn
   * whose agent takes longer fails as `agent-failed`; what is checked for longer is refused.
   * @default 30,000
   */
  readonly agentTimeoutMs?: number
  /**
   * What a request may choose for the turn that answers it, as a schema: zod, any Standard Schema, or `jsonSchema()` of
   * the AI SDK. Choices that do not fit are refused before anything is stored; what the schema returns is stored with
   * the turn and passed to the agent (AG2). A request without choices is checked as `{}`.
   * @default none: a request with choices is refused
   */
  readonly choices?: FlexibleSchema<Choices>
  /**
   * The models that people may pick, for everybody or by owner; `choices.model` is the id of the picked one, and the
   * first answers where none was picked. With a `model` in each entry no function `agent` is needed. Without `choices`
   * beside it, the model is all that can be chosen (AG2).
   * @default none: nothing can be picked
   */
  readonly models?: ModelsOption
  /** The call settings in an object of their own, as in versions before 0.3. @default none */
  readonly settings?: CallSettings
  /**
   * Receives every lifecycle event of this process, for logs, metrics and traces (`traceHooks`, `combineHooks`). What it
   * throws changes nothing, and is written to the standard error.
   * @default `logFailures`: failures are written to the standard error. `combineHooks(logFailures, yours)` keeps that
   */
  readonly hooks?: Hooks<NoInfer<Context>>
  /**
   * What clients read when a tool, a policy or a model fails: the error itself may contain what is not meant for them.
   * The model gets a tool's own error text all the same. `(_, {message}) => message` shows everything.
   * @default a neutral sentence with an id, which is in the hook event `failed` with the reason
   */
  readonly errorText?: ErrorText

  /**
   * The most model calls in one turn; after the last the turn ends at its step limit, and can be continued.
   * @default 30
   */
  readonly maxSteps?: number
  /** How many calls of one turn run at a time; the others wait. @default 10 */
  readonly toolConcurrency?: number
  /**
   * How long a tool may take, unless its policy sets another limit. One that takes longer fails as `timeout`, and its
   * signal is aborted.
   * @default no limit
   */
  readonly toolTimeoutMs?: number
  /**
   * How many characters of a long result the model is sent, with a note about its length; the whole result is stored.
   * @default 200,000
   */
  readonly maxOutputChars?: number
  /**
   * The most characters of text and reasoning in one turn; beyond it the turn ends as cut off, and can be continued.
   * @default 1,000,000
   */
  readonly maxTextChars?: number
  /**
   * The most characters of the arguments of one call; beyond it the turn ends as cut off, and the call does not run.
   * @default 1,000,000
   */
  readonly maxArgumentChars?: number
  /** The most calls in one turn; beyond it the turn ends as cut off, and can be continued. @default 1,000 */
  readonly maxCalls?: number
  /**
   * The most characters of a result as JSON; a call that returns more fails with an error about it. Also the limit for
   * the files that the model generates in a turn.
   * @default 16,000,000
   */
  readonly maxResultChars?: number
  /**
   * The most characters of everything in one turn together: text, arguments, results, files. A result that would exceed
   * it fails its call with an error about it; with anything else the turn ends as cut off, and can be continued.
   * @default 64,000,000
   */
  readonly maxTurnChars?: number
  /**
   * Selects the messages that the model is sent, oldest first. The others are stored and shown all the same. It is given no
   * more than the default, and a result over `maxOutputChars` with an `omitted` output, as what the model is sent of it.
   * @default the last 1,000, up to 16,777,216 characters
   */
  readonly selectHistory?: (messages: readonly Message[]) => readonly Message[]
  /**
   * How a model is asked to continue an answer whose text was broken off by a crash or a hand-over (AG8). `prefix`: the
   * shown text is sent as the beginning of its own answer; only for models that accept a last message of the assistant.
   * `instruction`: a sentence asks for the rest, and a repeated beginning is dropped. A function decides for each
   * model.
   * @default 'instruction'
   */
  readonly continueText?: ContinueText | ((model: LanguageModel) => ContinueText)
  /** The older name of `maxRetries`, which applies to agents that have none. @deprecated @default 2 */
  readonly modelRetries?: number
  /**
   * The pause before a model is retried; it doubles each time, to 30 s at most, and the provider's own `retry-after`
   * takes precedence.
   * @default 500
   */
  readonly retryDelayMs?: number

  /** How long text may be delayed before it is committed (LG8): the longer, the fewer commits. @default 25 */
  readonly textDelayMs?: number
  /**
   * How long a lease lasts without renewal before another process takes the run over. Shorter finds dead processes
   * sooner, and renews more often.
   * @default 5,000
   */
  readonly leaseMs?: number
  /**
   * How often this process looks for runs whose lease holder died. 0: never.
   * @default 1,000; with `handOverAfterMs` 0, as a process that is about to end should take nothing over
   */
  readonly recoverEveryMs?: number
  /**
   * For platforms that end a process after some time (OP4). A run that has been in this process for so long begins no
   * further step and no further call: work in flight may finish for `handOverGraceMs`, then the lease is released, and
   * the next process that looks for abandoned runs continues it: another one, or this one, when `POST /api/recover` is
   * called.
   * @default never
   */
  readonly handOverAfterMs?: number
  /**
   * How long a step or a call in flight may still take then. After it the run is broken off: the step is run again
   * elsewhere, and the outcome of a call that is not repeatable is unknown.
   * @default 2,000
   */
  readonly handOverGraceMs?: number
  /**
   * How often a turn whose process died is taken over without progress. After one more it ends as `failed` with the
   * code `crash-loop`; a person can continue it (AG7).
   * @default 5
   */
  readonly maxTakeovers?: number
  /** What happens to a turn whose process died: it is continued, or ended as interrupted. @default 'continue' */
  readonly recovery?: 'continue' | 'end'
  /**
   * For a call that started and whose end was never seen: the turn waits for a person to resolve it, or the model is
   * sent that the outcome is unknown.
   * @default 'wait'
   */
  readonly unknownOutcome?: 'wait' | 'tell-model'
  /**
   * What happens to a message that arrives while a turn runs, unless its request sets it (IN1). `queue`: it is answered
   * after that turn. `steer`: it joins the turn at its next step. `interrupt`: the turn is stopped for it. `reject`: it
   * is refused.
   * @default 'queue'
   */
  readonly whenBusy?: WhenBusy

  /**
   * For the host application's own loops: called when a turn that `record` stored waited for approvals or for the
   * client, and everything has arrived. Run the loop with `messages` and record it with `{continue: turnId}`. Called in
   * the process that stored the last decision; not called again if that process dies.
   * @default none: the host application has to look for such turns itself
   */
  readonly resumeRecorded?: ResumeRecorded

  /**
   * Lets a model name unnamed threads (FK3): after an answer it is called for a title, in a separate call in the
   * background. `{}`: the model of the answer. In the library it is off by default, because it is an additional call
   * that is paid for; `holdfast serve` has it on.
   * @default false
   */
  readonly title?: TitleOptions | false
  /** Where files are stored, and how large they may be (FL1). @default the store's own, with the default limits */
  readonly files?: FileOptions

  /**
   * The name of this process, for the lease. No two live processes may have the same.
   * @default the process, as the store identifies it
   */
  readonly holder?: string
  /** The clock, for tests. @default the system's */
  readonly clock?: Clock
  /** Generates globally unique ids. @default 128 random bits */
  readonly newId?: (kind: 'message' | 'call' | 'thread') => string
}

/** A turn that the host application's own loop is to answer, or to go on with. */
export interface ResumableTurn {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  /** The prompt for the model: it contains the decisions in the AI SDK's format. */
  readonly messages: ModelMessage[]
}

/** Continues a recorded turn: see `HoldfastOptions.resumeRecorded`. */
export type ResumeRecorded = (turn: ResumableTurn) => void | Promise<void>

/** The options with every default filled in. */
export type EngineOptions = Required<
  Pick<
    HoldfastOptions,
    | 'agentTimeoutMs'
    | 'maxTakeovers'
    | 'maxSteps'
    | 'toolConcurrency'
    | 'maxOutputChars'
    | 'maxTextChars'
    | 'maxArgumentChars'
    | 'maxCalls'
    | 'maxResultChars'
    | 'maxTurnChars'
    | 'selectHistory'
    | 'continueText'
    | 'modelRetries'
    | 'retryDelayMs'
    | 'textDelayMs'
    | 'leaseMs'
    | 'recoverEveryMs'
    | 'handOverGraceMs'
    | 'recovery'
    | 'unknownOutcome'
    | 'whenBusy'
  >
> & {
  readonly toolTimeoutMs: number | undefined
  readonly handOverAfterMs: number | undefined
  readonly resumeRecorded: ResumeRecorded | undefined
  readonly errorText: ErrorText | undefined
  readonly title: TitleOptions | false
  readonly choices: FlexibleSchema<unknown> | undefined
}

/** The most messages of a history. */
export const longestHistory = 1_000
/**
 * The most characters of a history, as JSON, in which a long result counts with what the model is sent of it. A run holds its
 * history until it ends: without this, 1,000 messages of megabytes each were more than a process has memory for, and the run
 * was then taken over by the next process (OP7). Twice what the longest contexts of models have room for, two million tokens,
 * and twice the largest message that can be imported.
 */
export const longestHistoryChars = 16_777_216
/**
 * A history up to this size is read without waiting for memory: most are, and a run of few words must not wait for those that
 * are large, least of all where a tool of one of these waits for it. What `runsPerOwner` of them hold is little.
 */
export const smallHistoryChars = 262_144

export function withDefaults(options: HoldfastOptions): EngineOptions {
  return {
    agentTimeoutMs: options.agentTimeoutMs ?? 30_000,
    maxTakeovers: options.maxTakeovers ?? 5,
    choices: options.choices,
    maxSteps: options.maxSteps ?? 30,
    toolConcurrency: options.toolConcurrency ?? 10,
    toolTimeoutMs: options.toolTimeoutMs,
    maxOutputChars: options.maxOutputChars ?? 200_000,
    maxTextChars: options.maxTextChars ?? 1_000_000,
    maxArgumentChars: options.maxArgumentChars ?? 1_000_000,
    maxCalls: options.maxCalls ?? 1_000,
    maxResultChars: options.maxResultChars ?? 16_000_000,
    maxTurnChars: options.maxTurnChars ?? 64_000_000,
    resumeRecorded: options.resumeRecorded,
    errorText: options.errorText,
    title: options.title ?? false,
    selectHistory: options.selectHistory ?? ((messages) => messages),
    continueText: options.continueText ?? 'instruction',
    modelRetries: options.modelRetries ?? 2,
    retryDelayMs: options.retryDelayMs ?? 500,
    textDelayMs: options.textDelayMs ?? 25,
    leaseMs: options.leaseMs ?? 5_000,
    recoverEveryMs: options.recoverEveryMs ?? (options.handOverAfterMs === undefined ? 1_000 : 0),
    handOverAfterMs: options.handOverAfterMs,
    handOverGraceMs: options.handOverGraceMs ?? 2_000,
    recovery: options.recovery ?? 'continue',
    unknownOutcome: options.unknownOutcome ?? 'wait',
    whenBusy: options.whenBusy ?? 'queue',
  }
}
