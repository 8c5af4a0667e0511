import type { FlexibleSchema, LanguageModel, ModelMessage } from 'ai'
import type { MessageId, ThreadId } from '../core/ids.ts'
import type { Message } from '../core/message.ts'
import type { Store } from '../store/store.ts'
import type { ContinueText } from '../views/model-prompt.ts'
import type { Agent, AgentOption, Unchecked } from './agent.ts'
import type { CallSettings } from './call-model.ts'
import type { Clock } from './clock.ts'
import type { FileOptions } from './file-options.ts'
import type { ErrorText } from './failure-words.ts'
import type { Hooks } from './hooks.ts'
import type { WhenBusy } from '../protocol/chat-body.ts'
import type { ModelsOption } from './offered-models.ts'
import type { TitleOptions } from './title-options.ts'

/**
 * What `createHoldfast` takes. The options of an `Agent` (`model`, `tools`, `temperature` …) given here are short for an `agent`
 * that is an object; with an `agent` of its own they are refused.
 *
 * Without any `model` this process answers nothing itself: every turn comes from `record`, the repository or an
 * import, and `send`, `regenerate` and `continue` are refused as `no-model`.
 */
export interface HoldfastOptions<Context = Unchecked, Choices = Unchecked> extends Partial<
  Agent<Context>
> {
  /** Where everything is kept: `sqlite(file)`, `postgres(url)`, `memory()`, or one of your own. */
  readonly store: Store
  /** With what turns are answered: for all of them an object, or a function of whose turn it is (AG1). @default the options of an agent that stand here */
  readonly agent?: AgentOption<Context, NoInfer<Choices>>
  /** How long a function `agent` may take. A turn whose agent takes longer fails as `agent-failed`. @default 30,000 */
  readonly agentTimeoutMs?: number
  /**
   * What a request may choose for the turn that answers it, as a schema: zod, any Standard Schema, or `jsonSchema()` of the AI SDK.
   * What does not fit is refused before anything is stored; what the schema makes of it is stored with the turn
   * and given to the agent (AG2). A request that has none is checked as `{}`.
   * @default none: a request with choices is refused
   */
  readonly choices?: FlexibleSchema<Choices>
  /**
   * The models that people may pick, for everybody or by person; `choices.model` is the id of the one that was picked, and
   * the first answers where none was. With a `model` in each there is no need for a function `agent`. Without `choices`
   * beside it, which model is all that can be chosen (AG2).
   * @default none: nothing can be picked
   */
  readonly models?: ModelsOption
  /** The call settings in an object of their own, as versions before 0.3 took them. @default none */
  readonly settings?: CallSettings
  /**
   * Told of everything that happens here, for logs, metrics and traces (`traceHooks`, `combineHooks`). What it throws is not heard.
   * @default failures are written to the standard error, and nothing else is told
   */
  readonly hooks?: Hooks<NoInfer<Context>>
  /**
   * What clients read when a tool, a policy or a model fails: what was thrown may hold what is not for them. The model is
   * told a tool's own words all the same. `(_, {message}) => message` shows everything.
   * @default a neutral sentence with an id, which stands in the hook event `failed` with the reason
   */
  readonly errorText?: ErrorText

  /** Model calls in one turn; with the last the turn ends at its step limit, and can be continued. @default 30 */
  readonly maxSteps?: number
  /** How many calls of one turn run at a time; the others wait for their place. @default 10 */
  readonly toolConcurrency?: number
  /** How long a tool may take, unless its policy says otherwise. One that takes longer fails as `timeout`, and its signal is aborted. @default no limit */
  readonly toolTimeoutMs?: number
  /** What of a long result the model is sent, with a word on how long it was; the whole of it is stored. @default 200,000 */
  readonly maxOutputChars?: number
  /** Text and reasoning of one turn, in characters; over it the turn ends as cut off, and can be continued. @default 1,000,000 */
  readonly maxTextChars?: number
  /** The arguments of one call, in characters; over it the turn ends as cut off, and the call does not run. @default 1,000,000 */
  readonly maxArgumentChars?: number
  /** Calls in one turn; over it the turn ends as cut off, and can be continued. @default 1,000 */
  readonly maxCalls?: number
  /**
   * A result, as characters of JSON; a call that gives more fails and says so. Also the files of a turn that the model
   * makes. @default 16,000,000
   */
  readonly maxResultChars?: number
  /**
   * Everything in one turn together, as characters: text, arguments, results, files. A result that would go beyond it fails
   * its call and says so; with anything else the turn ends as cut off, and can be continued. @default 64,000,000
   */
  readonly maxTurnChars?: number
  /** Which messages the model is sent, oldest first. Those that are left out are stored and shown all the same. @default the last 1,000 */
  readonly selectHistory?: (messages: readonly Message[]) => readonly Message[]
  /**
   * How a model is asked to carry on with an answer that a crash or a hand-over broke off in its text (AG8). `prefix`: what was shown
   * is its own beginning; only for models that take a last message of the assistant. `instruction`: a sentence asks for
   * the rest, and a beginning that is repeated is dropped. A function says it of each model.
   * @default 'instruction'
   */
  readonly continueText?: ContinueText | ((model: LanguageModel) => ContinueText)
  /** The older name of `maxRetries`, which holds for agents that have none. @deprecated @default 2 */
  readonly modelRetries?: number
  /** The pause before a model is tried again; it doubles each time, to 30 s at most, and the provider's own word comes first. @default 500 */
  readonly retryDelayMs?: number

  /** How far text may be behind the model (LG8): the longer, the fewer commits. @default 25 */
  readonly textDelayMs?: number
  /** How long a run may be silent before another process takes it over. Shorter finds dead processes sooner, and renews more often. @default 5,000 */
  readonly leaseMs?: number
  /**
   * How often this process looks for runs whose holder died. 0: never.
   * @default 1,000; with `handOverAfterMs` 0, as a process that is about to end should take nothing over
   */
  readonly recoverEveryMs?: number
  /**
   * For platforms that end a process after some time (OP4). A run that has lived here for so long begins no further
   * step and no further call: what is under way may finish for `handOverGraceMs`, then its lease is given back, and
   * whoever looks next carries it on: another process, or this one, when `POST /api/recover` is called.
   * @default never
   */
  readonly handOverAfterMs?: number
  /**
   * How long a step or a call under way may still take then. After it the run is broken off where it is: the step is run
   * again elsewhere, and of a call that is not repeatable nobody knows how it ended.
   * @default 2,000
   */
  readonly handOverGraceMs?: number
  /**
   * How often a turn whose process died is taken over without having come any further. One more time, and it ends as
   * `failed` with the code `crash-loop`; a person can continue it (AG7). @default 5
   */
  readonly maxTakeovers?: number
  /** What becomes of a turn whose process died: carried on, or ended as interrupted. @default 'continue' */
  readonly recovery?: 'continue' | 'end'
  /** A call that started and whose end nobody saw: a person says how it ended, or the model is told that nobody knows. @default 'wait' */
  readonly unknownOutcome?: 'wait' | 'tell-model'
  /**
   * What becomes of a message that arrives while a turn runs, where its request does not say (IN1). `queue`: it is answered
   * in its turn. `steer`: it joins the turn at its next step. `interrupt`: the turn is stopped for it. `reject`: it is refused.
   * @default 'queue'
   */
  readonly whenBusy?: WhenBusy

  /**
   * For loops of the host's own: a turn that `record` stored waited for approvals or for the client, and
   * all has been said. Run the loop with `messages` and record it with `{continue: turnId}`. Called in the
   * process that took the last decision, after it was stored; not called again if that process dies.
   * @default nobody: the host looks for itself
   */
  readonly resumeRecorded?: ResumeRecorded

  /**
   * A model names threads that nobody has named (FK3): after an answer it is asked for a title, in a call of its own beside all
   * else. `{}`: the model of the answer. In the library it is off unless it is asked for, because it is a call more that is paid
   * for; `holdfast serve` has it on.
   * @default false
   */
  readonly title?: TitleOptions | false
  /** Where files are kept, and how large they may be (FL1). @default the store's own, with the limits below */
  readonly files?: FileOptions

  /** Who this process is, for the lease. No two that live at once may have the same. @default the process, as the store knows it */
  readonly holder?: string
  /** The time, for tests. @default the system's */
  readonly clock?: Clock
  /** Makes ids that are unique everywhere. @default 128 random bits */
  readonly newId?: (kind: 'message' | 'call' | 'thread') => string
}

/** A turn of the host's own loop that waited for people or for the client, and waits no more. */
export interface ResumableTurn {
  readonly threadId: ThreadId
  readonly turnId: MessageId
  /** What the model is to be sent: the decisions are in it as the AI SDK wants them. */
  readonly messages: ModelMessage[]
}

export type ResumeRecorded = (turn: ResumableTurn) => void | Promise<void>

/** The same with every choice made. */
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

export const longestHistory = 1_000

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
