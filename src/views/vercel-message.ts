import { appendAll } from '../core/append-all.ts'
import { type Call, isOpenCall } from '../core/call.ts'
import {
  callsOf,
  isTurn,
  type Message,
  type Step,
  type Turn,
  type UserMessage,
} from '../core/message.ts'
import { withDefined } from '../core/with-defined.ts'
import { projectArguments } from './call-arguments.ts'
import { isCallComplete, type Validated, validatedOf } from './call-status.ts'
import { answersOf, hasSteering, isAnswerStep, stepTextOf } from './commentary.ts'
import { toIsoDate } from './iso-date.ts'
import { toKnownCall } from './known-call.ts'
import type { LazyHref, LazyOptions } from './lazy-output.ts'
import { errorMarkOf, projectResultValue } from './result-value.ts'
import { type Attempt, isBrokenAttempt } from './shown-parts.ts'
import { type UserFile, userFilesOf, userTextOf } from './user-content.ts'
import { projectExtraPart, type VercelInvocation, type VercelPart } from './vercel-part.ts'

/** A message as AI SDK 4 has it. `parts` and `annotations` are on assistant messages only. */
export interface VercelMessage {
  readonly id: string
  readonly role: 'user' | 'system' | 'assistant'
  readonly content: string
  readonly createdAt: string
  readonly parts?: readonly VercelPart[]
  readonly annotations?: readonly VercelAnnotation[]
  readonly experimental_attachments?: readonly VercelAttachment[]
}

/** A file of a person's message, as in AI SDK 4. */
export interface VercelAttachment {
  readonly name?: string
  readonly contentType: string
  readonly url: string
}

/** An annotation of an AI SDK 4 message. */
export type VercelAnnotation =
  | {
      readonly toolCallId: string
      readonly validated: Validated
      readonly isComplete: boolean
      /** Only on a success whose result looks like an error. */
      readonly isError?: false
    }
  | { readonly messageId: string; readonly isComplete: boolean }
  /** The text part with this index belongs to an attempt that was broken off and run again (AG8). */
  | { readonly part: number; readonly attempt: Attempt }
  /**
   * An input that joined after the step with this index, while the turn ran, and before the part with this index
   * (IN3).
   */
  | {
      readonly steering: string
      readonly step: number
      readonly part: number
      readonly text: string
      readonly files?: readonly UserFile[]
    }

/** FD2. `null` where there is nothing to show: a client never gets an empty bubble (FD3). */
export function projectVercelMessage(
  message: Message,
  options: LazyOptions = {},
): VercelMessage | null {
  return isTurn(message) ? projectTurn(message, options) : projectUserMessage(message)
}

function projectUserMessage(message: UserMessage): VercelMessage {
  const attachments = userFilesOf(message).map(({ filename, mediaType, url }) =>
    withDefined({ contentType: mediaType, url }, { name: filename }),
  )
  return withDefined(
    {
      id: message.id,
      role: message.role,
      content: userTextOf(message),
      createdAt: toIsoDate(message.createdAt),
    },
    { experimental_attachments: attachments.length === 0 ? undefined : attachments },
  )
}

/**
 * The annotations of a turn's message, each as soon as it is final or known: those of its calls at once, that
 * of the message when the turn no longer runs.
 */
export function projectVercelAnnotations(turn: Turn): readonly VercelAnnotation[] {
  const calls = [...callsOf(turn)].map((call) => annotateCall(toKnownCall(call, turn)))
  const hasPlaces = turn.steps.some((step) => isBrokenAttempt(step) || hasSteering(step))
  if (turn.progress.status === 'running' && !hasPlaces) return calls
  const message = projectTurn(turn, {})
  const placed = message?.annotations?.filter((annotation) => 'part' in annotation) ?? []
  const isAtRest = turn.progress.status !== 'running' && message !== null
  return [...calls, ...placed, ...(isAtRest ? [annotateTurn(turn)] : [])]
}

const annotateCall = (call: Call): VercelAnnotation => ({
  toolCallId: call.id,
  validated: validatedOf(call),
  isComplete: isCallComplete(call),
  ...errorMarkOf(call),
})

const annotateSteering = (
  { parts, index: step }: Step,
  part: number,
): readonly VercelAnnotation[] =>
  parts.flatMap((steering) => {
    if (steering.type !== 'steering') return []
    const files = userFilesOf(steering)
    const note = { steering: steering.id, step, part, text: userTextOf(steering) }
    return [files.length === 0 ? note : { ...note, files }]
  })

const annotateTurn = ({ id: messageId, progress }: Turn): VercelAnnotation => ({
  messageId,
  isComplete: progress.status === 'ended' && progress.ending.kind === 'completed',
})

function projectTurn(turn: Turn, { lazyHref }: LazyOptions): VercelMessage | null {
  const answers = answersOf(turn)
  const textByStep = new Map(answers.map(({ text, lastStep }) => [lastStep, text]))
  const parts: VercelPart[] = []
  const annotations: VercelAnnotation[] = []
  for (const step of turn.steps) {
    appendAll(parts, step.parts.flatMap(projectExtraPart))
    // An answer is one text part, where its last piece was: pieces of several steps are joined there.
    const text = isAnswerStep(step) ? (textByStep.get(step) ?? '') : stepTextOf(step)
    if (text !== '' && isBrokenAttempt(step)) {
      annotations.push({ part: parts.length, attempt: 'abandoned' })
    }
    if (text !== '') parts.push({ type: 'text', text })
    addCalls(step, turn, lazyHref, parts, annotations)
    appendAll(annotations, annotateSteering(step, parts.length))
  }
  if (parts.length === 0) return null
  return {
    id: turn.id,
    role: 'assistant',
    content: answers.at(-1)?.text ?? '',
    createdAt: toIsoDate(turn.createdAt),
    parts,
    annotations: [...annotations, annotateTurn(turn)],
  }
}

function addCalls(
  step: Step,
  turn: Turn,
  lazyHref: LazyHref | undefined,
  parts: VercelPart[],
  annotations: VercelAnnotation[],
): void {
  for (const part of step.parts) {
    if (part.type !== 'call') continue
    const call = toKnownCall(part, turn)
    const invocation = {
      step: call.step,
      toolCallId: call.id,
      toolName: call.name,
      args: projectArguments(call.input),
    }
    const toolInvocation: VercelInvocation = isOpenCall(call)
      ? { state: call.state === 'streaming' ? 'partial-call' : 'call', ...invocation }
      : { state: 'result', ...invocation, result: projectResultValue(call, lazyHref) }
    parts.push({ type: 'tool-invocation', toolInvocation })
    annotations.push(annotateCall(call))
  }
}
