import { type Call, isOpenCall, needsPerson } from '../core/call.ts'
import type { EngineOptions } from './options.ts'
import type { Toolbox } from './tool-policy.ts'
import { callsOf, type Step, type Turn, type TurnEnding, type TurnWait } from '../core/message.ts'

/** What the run does next. It follows from the turn alone, so a recovered run goes on as the first would. */
export type NextAction =
  /** `resumes`: the last step is open, and goes on from the text that it had shown (AG8). */
  | { readonly kind: 'step'; readonly index: number; readonly resumes?: Step }
  | { readonly kind: 'run-calls'; readonly calls: readonly Call[] }
  /** Their tool is gone since they were recorded. */
  | { readonly kind: 'fail-calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'wait'; readonly waitingFor: TurnWait }
  | { readonly kind: 'end'; readonly ending: TurnEnding }

export interface NextOptions {
  readonly maxSteps: number
  /** Tools that this server runs itself; others are run by the client. */
  readonly isExecutable: (call: Call) => boolean
  readonly isKnown: (name: string) => boolean
  /** The provider may give the result of such a call in a later step. */
  readonly isDeferred: (name: string) => boolean
  /** Whether the turn waits for a person when an outcome is unknown, or tells the model and goes on. */
  readonly unknownWaits: boolean
}

/** The same for every plan of one run. */
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

/** Called with no step open, but for the last one, where it was broken off after it had shown text. */
export function planNext(turn: Turn, options: NextOptions): NextAction {
  const calls = [...callsOf(turn)]
  const open = calls.filter(isOpenCall).filter((call) => call.state !== 'awaiting-approval')
  const orphans = open.filter((call) => !options.isKnown(call.name) && !call.providerExecuted)
  if (orphans.length > 0) return { kind: 'fail-calls', calls: orphans }
  const runnable = open.filter((call) => options.isExecutable(call) && !call.providerExecuted)
  if (runnable.length > 0) return { kind: 'run-calls', calls: runnable }
  const last = turn.steps.at(-1)
  const brokeOff = last?.status !== 'ended'
  // A step that broke off had begun in spite of whatever is unknown, and begins again; but not while a
  // call is open: one of an earlier step may have been opened again since (CL3).
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

/** Steps without a call and without the awaited result after which it is no longer waited for. */
const mostSilentSteps = 2

/**
 * Whether a call that the provider runs is still awaited. A provider that never comes back to it would
 * otherwise be asked until the steps run out.
 */
function awaitsProvider(turn: Turn, { isDeferred }: NextOptions): boolean {
  const pending = [...callsOf(turn)].filter(
    (call) => call.providerExecuted === true && isOpenCall(call) && isDeferred(call.name),
  )
  if (pending.length === 0) return false
  const results = [...callsOf(turn)].map(({ resultStep }) => resultStep)
  const heard = turn.steps.findLastIndex(
    ({ index, parts }) => parts.some(({ type }) => type === 'call') || results.includes(index),
  )
  return turn.steps.length - 1 - heard < mostSilentSteps
}

/** One that the model goes on from: a tool of ours, or the provider's own that somebody decided on. */
const isAnswered = (part: Step['parts'][number]): boolean =>
  part.type === 'call' && (part.providerExecuted !== true || part.decision !== undefined)

/** Something that a person said joined the turn, and the model has not been sent it. */
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
  // What joined behind the step is answered, however many steps there were: it was let in (IN3).
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
