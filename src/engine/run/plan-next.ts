import { type Call, isOpenCall, needsPerson } from '../../core/call.ts'
import type { EngineOptions } from '../options/options.ts'
import type { Toolbox } from '../agent/tool-policy.ts'
import {
  callsOf,
  type Step,
  type Turn,
  type TurnEnding,
  type TurnWait,
} from '../../core/message.ts'

/**
 * What the run does next. It depends on the stored turn alone, so a recovered run continues as the first one would
 * have.
 */
export type NextAction =
  /** `resumes`: the last step is open, and continues from the text that it had shown (AG8). */
  | { readonly kind: 'step'; readonly index: number; readonly resumes?: Step }
  | { readonly kind: 'run-calls'; readonly calls: readonly Call[] }
  /** Their tool has been removed since they were recorded. */
  | { readonly kind: 'fail-calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'wait'; readonly waitingFor: TurnWait }
  | { readonly kind: 'end'; readonly ending: TurnEnding }

export interface NextOptions {
  readonly maxSteps: number
  /** Whether this server runs the tool; the others are run by the client. */
  readonly isExecutable: (call: Call) => boolean
  readonly isKnown: (name: string) => boolean
  /** Whether the provider may return the result of such a call in a later step. */
  readonly isDeferred: (name: string) => boolean
  /**
   * Whether the turn waits for a person when an outcome is unknown; otherwise the model is sent that it is unknown,
   * and the turn goes on.
   */
  readonly unknownWaits: boolean
}

/** The options that are the same for every plan of one run. */
export const nextOptions = (
  options: EngineOptions,
  toolbox: Pick<Toolbox, 'isExecutable' | 'find' | 'isDeferred'>,
): NextOptions => ({
  maxSteps: options.maxSteps,
  unknownWaits: options.unknownOutcome === 'wait',
  isExecutable: (call) => toolbox.isExecutable(call.name),
  isKnown: (name) => toolbox.find(name) !== undefined,
  isDeferred: toolbox.isDeferred,
})

/** Called with no step open, except a last step that was broken off after it had shown text. */
export function planNext(turn: Turn, options: NextOptions): NextAction {
  const calls = callsOf(turn)
  const open = calls.filter(isOpenCall).filter((call) => call.state !== 'awaiting-approval')
  const orphans = open.filter((call) => !options.isKnown(call.name) && !call.providerExecuted)
  if (orphans.length > 0) return { kind: 'fail-calls', calls: orphans }
  const runnable = open.filter((call) => options.isExecutable(call) && !call.providerExecuted)
  if (runnable.length > 0) return { kind: 'run-calls', calls: runnable }
  const last = turn.steps.at(-1)
  const brokeOff = last?.status !== 'ended'
  // A step that was broken off had begun in spite of unknown outcomes, so it begins again; but not while a call is
  // open, because a call of an earlier step may have been reopened since (CL3).
  const wait = waitOf(calls, open, options.unknownWaits && !brokeOff)
  if (wait !== undefined) return { kind: 'wait', waitingFor: wait }
  if (last?.status === 'open') return { kind: 'step', index: last.index, resumes: last }
  return brokeOff ? { kind: 'step', index: turn.steps.length } : afterStep(turn, last, options)
}

function waitOf(
  calls: readonly Call[],
  open: readonly Call[],
  unknownWaits: boolean,
): TurnWait | undefined {
  if (calls.some((call) => call.state === 'awaiting-approval')) return 'approval'
  if (unknownWaits && calls.some(needsPerson)) return 'resolution'
  return open.some((call) => !call.providerExecuted) ? 'client' : undefined
}

/**
 * After this many steps without a call and without the awaited result, the provider's result is no longer awaited.
 */
const mostSilentSteps = 2

/**
 * Whether a result that the provider computes is still awaited. Without a limit, a provider that never returns it
 * would be called until the steps run out.
 */
function awaitsProvider(turn: Turn, { isDeferred }: NextOptions): boolean {
  const pending = callsOf(turn).filter(
    (call) => call.providerExecuted === true && isOpenCall(call) && isDeferred(call.name),
  )
  if (pending.length === 0) return false
  const results = callsOf(turn).map(({ resultStep }) => resultStep)
  const lastActive = turn.steps.findLastIndex(
    ({ index, parts }) => parts.some(({ type }) => type === 'call') || results.includes(index),
  )
  return turn.steps.length - 1 - lastActive < mostSilentSteps
}

/**
 * A call whose result the model continues from: one of our tools, or one of the provider's own that was decided on.
 */
const isAnswered = (part: Step['parts'][number]): boolean =>
  part.type === 'call' && (part.providerExecuted !== true || part.decision !== undefined)

/** An input of a person has joined the turn, and the model has not been sent it yet. */
export const isSteered = ({ steps }: Turn): boolean =>
  steps.at(-1)?.parts.at(-1)?.type === 'steering'

function afterStep(turn: Turn, last: Step, options: NextOptions): NextAction {
  const { maxSteps } = options
  const finishReason = last.status === 'ended' ? last.finishReason : 'interrupted'
  if (finishReason === 'length') return end({ kind: 'cut-off' })
  if (finishReason === 'content-filter') {
    const message = 'The model stopped because of its content filter.'
    return end({ kind: 'failed', error: { code: 'content-filter', message } })
  }
  // An input that joined after the step is answered however many steps there were: `canJoin` applied the limit when
  // it joined (IN3).
  if (isSteered(turn)) return { kind: 'step', index: turn.steps.length }
  if (last.parts.some(isAnswered) || awaitsProvider(turn, options)) {
    const isSpent = turn.steps.length % maxSteps === 0
    return isSpent ? end({ kind: 'step-limit' }) : { kind: 'step', index: turn.steps.length }
  }
  const hasText = last.parts.some((part) => part.type === 'text' && part.text.trim() !== '')
  const hasItem = last.parts.some((part) => part.type === 'file' || part.type === 'data')
  return end({ kind: hasText || hasItem ? 'completed' : 'no-answer' })
}

const end = (ending: TurnEnding): NextAction => ({ kind: 'end', ending })
