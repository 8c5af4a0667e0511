import { type Call, type CallFailure, type CallOutcome, isOpenCall } from '../../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { badRequestFault, HoldfastError } from '../../core/holdfast-error.ts'
import {
  type CallId,
  type MessageId,
  type OwnerId,
  parseCallId,
  parseMessageId,
  parseThreadId,
  type ThreadId,
} from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { isLargerThan } from '../../core/json-size.ts'
import {
  callsOf,
  type Message,
  type TextPart,
  type Turn,
  type TurnEnding,
  type TurnError,
} from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { FoundTurn, Store } from '../../store/store.ts'
import type { MeterOptions } from '../run/answer-meter.ts'
import type { TurnPlace } from '../call-scope.ts'
import { checkNames } from '../options/check-names.ts'
import type { CommitResult } from '../run/committer.ts'
import { projectToolCalls, type ToolCallList } from '../../views/tool-call-record.ts'
import { type Pause, retryWhileStale } from '../../store/retry-while-stale.ts'
import { toJson } from '../to-json.ts'
import { messageOf } from '../model/translate-part.ts'
import { charsOfJson, usedBy } from '../run/turn-size.ts'

/**
 * For applications that run their own loop (CL11). It writes the same ledger by the same rules, without a buffer. A
 * call is identified by its message and by the id that the provider gave it. Ids that are empty or too long, values
 * that are not JSON, and messages of another thread are refused with a `HoldfastError`, and then nothing is written.
 */
export interface ToolCallRepository {
  /**
   * One row per message and call id. A second call updates name, arguments and partiality; for a call that has ended it
   * changes nothing. After `cleanupIncomplete`, or where the call was stopped, the same id is a new attempt: a call of
   * its own, and the one before stays as it ended.
   */
  upsert(call: UpsertedCall): Promise<void>
  /** `undefined` is stored as null. False, and nothing changed, if there is no such call or it has ended. */
  setResult(messageId: MessageId, callId: string, result: Json | undefined): Promise<boolean>
  /** The call failed. False, and nothing changed, if there is no such call or it has ended. @default cause 'tool-error' */
  setError(
    messageId: MessageId,
    callId: string,
    error: unknown,
    cause?: CallFailure,
  ): Promise<boolean>
  /** Appends to the assistant's text; after a call, or with another kind, it begins a new text. */
  appendText(text: AppendedText): Promise<void>
  /** In call order: the calls that are open or succeeded; with `all`, every call. */
  getByMessage(messageId: MessageId, include?: 'all'): Promise<ToolCallList>
  /** Ends an open call that returned no result. */
  markComplete(messageId: MessageId, callId: string): Promise<boolean>
  /** The message is complete: its open calls end as complete, and nothing of it is partial any more. */
  markAllComplete(messageId: MessageId): Promise<number>
  /** The message was broken off: its open calls end as interrupted, and the default list leaves them out. */
  cleanupIncomplete(messageId: MessageId): Promise<number>
  /** Ends the message as failed, with the error. False if it has ended already, or does not exist. */
  fail(messageId: MessageId, error: TurnError | string): Promise<boolean>
}

/** The arguments of `upsert`. */
export interface UpsertedCall {
  readonly threadId: ThreadId
  readonly messageId: MessageId
  readonly callId: string
  readonly name: string
  /** `undefined` is stored as `{}`. */
  readonly arguments: Json | undefined
  /** The arguments are still arriving. */
  readonly isPartial: boolean
}

/** The arguments of `appendText`. */
export interface AppendedText {
  readonly threadId: ThreadId
  readonly messageId: MessageId
  readonly text: string
  /** @default 'text' */
  readonly kind?: 'text' | 'reasoning'
}

export interface ToolCallRepositoryParts {
  readonly store: Store
  readonly append: (append: Append) => Promise<CommitResult>
  readonly now: () => number
  readonly newCallId: () => CallId
  /** The same limits as for every other turn (ST4a). What exceeds one is refused. */
  readonly limits: MeterOptions
  /** Called before a write that lost to a concurrent one is retried. */
  readonly pause: Pause
  /** Called for an end that came after the call had ended, or for no call: it is not written, and counted (CL2). */
  readonly onIgnored: (end: TurnPlace & { readonly callId: string }) => void
}

export function createToolCallRepository(parts: ToolCallRepositoryParts): ToolCallRepository {
  const { store, now, limits } = parts

  /** Plans on the stored turn and writes only if that is still current; else plans again. */
  const write = (
    threadId: ThreadId,
    messageId: MessageId,
    plan: (turn: Turn | null) => readonly NewTurnEvent[],
  ): Promise<void> =>
    retryWhileStale(parts.pause, async () => {
      const found = await store.findTurn(messageId, unread)
      if (found?.threadId === threadId) return append(found, found.turn, plan(found.turn))
      const thread = await store.readThread(threadId)
      if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
      const turn = toTurn(await store.readMessage(threadId, messageId, unread), messageId, found)
      return append({ ...thread, threadId }, turn, plan(turn))
    })

  const append = async (
    { threadId, seq: expectedSeq, incarnation }: Omit<FoundTurn, 'ownerId' | 'turn' | 'queue'>,
    turn: Turn | null,
    events: readonly NewTurnEvent[],
  ): Promise<'stale' | undefined> => {
    if (events.length === 0) return undefined
    const turns = turn === null ? [] : [turn]
    const result = await parts.append({ threadId, events, expectedSeq, incarnation, turns })
    if (result.kind === 'appended') return undefined
    if (result.kind === 'stale') return result.kind
    throw new HoldfastError('bad-request', `The call could not be stored: ${result.kind}.`)
  }

  /** A turn's id is unique across threads: one that exists elsewhere cannot begin here too. */
  const toTurn = (
    message: Message | null,
    messageId: MessageId,
    elsewhere: FoundTurn | null,
  ): Turn | null => {
    if (message?.role === 'assistant') return message
    if (message !== null) {
      throw badRequestFault(
        `The message ${messageId} is a person's: only messages of the assistant have calls.`,
      )
    }
    if (elsewhere !== null)
      throw badRequestFault(`The message ${messageId} belongs to another thread.`)
    return null
  }

  /** Refuses what would make the turn larger than `maxTurnChars` (ST4c). */
  const checkTurn = (turn: Turn | null, added: number): void => {
    const { maxTurnChars } = limits
    if (added + (turn === null ? 0 : usedBy(turn).chars) <= maxTurnChars) return
    throw badRequestFault(`The message would exceed the limit of ${maxTurnChars} characters.`)
  }

  const toEvent = (turnId: MessageId, event: TurnEventBody): NewTurnEvent => ({
    ...event,
    turnId,
    at: now(),
  })

  const settleOpen = async (
    messageId: MessageId,
    fits: (call: Call) => boolean,
    outcomeOf: (call: Call) => CallOutcome,
    ending?: TurnEnding,
  ): Promise<{
    readonly threadId: ThreadId
    readonly ownerId: OwnerId
    readonly settled: number
    readonly ended: boolean
  } | null> => {
    const id = parseMessageId(messageId)
    return retryWhileStale(parts.pause, async () => {
      const found = await store.findTurn(id, unread)
      if (found === null) return null
      const { threadId, ownerId, turn } = found
      if (turn.progress.status === 'ended') return { threadId, ownerId, settled: 0, ended: false }
      const open = [...callsOf(turn)].filter(isOpenCall).filter(fits)
      const events = open.map((call) =>
        toEvent(id, { type: 'call-settled', callId: call.id, outcome: outcomeOf(call) }),
      )
      if (ending === undefined) checkTurn(turn, charsOfJson(events))
      const all = ending === undefined ? events : planTurnEnd(turn, ending, now(), outcomeOf)
      const settled = { threadId, ownerId, settled: open.length, ended: ending !== undefined }
      return (await append(found, turn, all)) ?? settled
    })
  }

  /** Settles one call by its id. The first end stays, and every later one is counted. */
  const settleOne = async (
    messageId: MessageId,
    callId: string,
    outcome: CallOutcome,
  ): Promise<boolean> => {
    const id = parseCallId(callId)
    const fits = (call: Call) => call.providerCallId === id
    const done = await settleOpen(messageId, fits, () => outcome)
    if (done !== null && done.settled === 0) {
      const { threadId, ownerId } = done
      parts.onIgnored({ ownerId, threadId, turnId: messageId, callId })
    }
    return (done?.settled ?? 0) > 0
  }

  return {
    async upsert(call) {
      checkNames('toolCalls.upsert', call, upsertNames)
      const upserted = parseUpserted(call, limits.maxArgumentChars)
      const { threadId, messageId } = upserted
      await write(threadId, messageId, (turn) => {
        const events = planUpsert(upserted, turn, parts.newCallId)
        checkTurn(turn, charsOfJson(events))
        const isNew = events.some(({ type }) => /^call-(recorded|announced)$/.test(type))
        if (isNew && turn !== null && usedBy(turn).calls >= limits.maxCalls) {
          throw badRequestFault(`The message already has the maximum of ${limits.maxCalls} calls.`)
        }
        return events.map((event) => toEvent(messageId, event))
      })
    },

    setResult: async (messageId, callId, result) =>
      settleOne(messageId, callId, {
        state: 'succeeded',
        output: { kind: 'inline', value: asJson(result, 'result', limits.maxResultChars) },
      }),

    setError: async (messageId, callId, error, cause = 'tool-error') =>
      settleOne(messageId, callId, { state: 'failed', cause, error: messageOf(error) }),

    async appendText(given) {
      checkNames('toolCalls.appendText', given, ['threadId', 'messageId', 'text', 'kind'])
      const { threadId, messageId, text, kind = 'text' } = given
      if (typeof text !== 'string') throw badRequestFault('The text is a string.')
      if (text === '') return
      await write(parseThreadId(threadId), parseMessageId(messageId), (turn) => {
        checkTurn(turn, text.length)
        const length = text.length + (turn === null ? 0 : usedBy(turn).text)
        if (length > limits.maxTextChars) {
          throw badRequestFault(
            `The message would be longer than ${limits.maxTextChars} characters.`,
          )
        }
        return planText(turn, kind, text).map((event) => toEvent(messageId, event))
      })
    },

    async getByMessage(messageId, include) {
      const found = await store.findTurn(parseMessageId(messageId))
      if (found === null) return { toolCalls: [], isComplete: true }
      return projectToolCalls(found.turn, found.threadId, include === undefined ? {} : { include })
    },

    markComplete: async (messageId, callId) => settleOne(messageId, callId, noResult),

    async markAllComplete(messageId) {
      const ending = { kind: 'completed' } as const
      const done = await settleOpen(messageId, everyCall, () => noResult, ending)
      return done?.settled ?? 0
    },

    async cleanupIncomplete(messageId) {
      const outcome = { state: 'interrupted', cause: 'no-result' } as const
      const ending = { kind: 'interrupted' } as const
      const done = await settleOpen(messageId, everyCall, () => outcome, ending)
      return done?.settled ?? 0
    },

    async fail(messageId, error) {
      const turnError = typeof error === 'string' ? { code: 'failed', message: error } : error
      const outcome = { state: 'interrupted', cause: 'stream-failed' } as const
      const ending = { kind: 'failed', error: turnError } as const
      return (await settleOpen(messageId, everyCall, () => outcome, ending))?.ended ?? false
    },
  }
}

/** Each write reads the turn: with its results, the cost of one would grow with all that are stored. */
const unread = 'lazy'
const everyCall = (): boolean => true
const upsertNames = [
  ...(['threadId', 'messageId', 'callId', 'name', 'arguments', 'isPartial'] as const),
]

const noResult: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: null } }

function asJson(value: unknown, what: string, maxChars: number): Json {
  let json: Json
  try {
    json = toJson(value)
  } catch (error) {
    throw badRequestFault(`The ${what} is not JSON: ${messageOf(error)}`)
  }
  if (isLargerThan(json, maxChars)) {
    throw badRequestFault(`The ${what} has more than ${maxChars} characters.`)
  }
  return json
}

function parseUpserted(
  call: UpsertedCall,
  maxChars: number,
): UpsertedCall & { readonly arguments: Json } {
  if (typeof call.name !== 'string' || call.name === '') throw badRequestFault('A call has a name.')
  return {
    threadId: parseThreadId(call.threadId),
    messageId: parseMessageId(call.messageId),
    callId: parseCallId(call.callId),
    name: call.name,
    arguments:
      call.arguments === undefined ? {} : asJson(call.arguments, 'value of `arguments`', maxChars),
    isPartial: call.isPartial === true,
  }
}

/** The events that must precede anything that is added to the message. */
function planOpening(turn: Turn | null): readonly TurnEventBody[] {
  const opening: TurnEventBody[] = []
  if (turn === null) opening.push({ type: 'turn-started', replyTo: null, recorded: true })
  if (turn?.progress.status === 'waiting') {
    throw badRequestFault(
      'The message waits for a person or a client: nothing can be added to it before that.',
    )
  }
  if (turn?.progress.status === 'ended') opening.push({ type: 'turn-resumed' })
  if (turn?.steps.at(-1)?.status !== 'open') {
    opening.push({ type: 'step-started', step: turn?.steps.length ?? 0 })
  }
  return opening
}

/** The text block that is open, if it is the last part of the message. */
function openText(turn: Turn | null): TextPart | undefined {
  const step = turn?.steps.at(-1)
  const last = step?.status === 'open' ? step.parts.at(-1) : undefined
  const isText = last?.type === 'text' || last?.type === 'reasoning'
  return isText && last.state === 'streaming' ? last : undefined
}

const endText = (part: TextPart | undefined): readonly TurnEventBody[] =>
  part === undefined ? [] : [{ type: 'text-ended', block: part.block }]

function planText(
  turn: Turn | null,
  kind: 'text' | 'reasoning',
  delta: string,
): readonly TurnEventBody[] {
  const open = openText(turn)
  if (open?.type === kind) return [{ type: 'text-appended', block: open.block, delta }]
  // The next seq of the turn occurs in no earlier block id.
  const block = `own.${(turn?.lastSeq ?? 0) + 1}`
  return [
    ...planOpening(turn),
    ...endText(open),
    { type: 'text-started', block, kind },
    { type: 'text-appended', block, delta },
  ]
}

/** The call ended without having been done: writing it again is a new attempt. */
const isRetriable = (call: Call): boolean =>
  call.state === 'interrupted' || call.state === 'stopped' || call.state === 'unknown'

function planUpsert(
  upserted: UpsertedCall & { readonly arguments: Json },
  turn: Turn | null,
  newCallId: () => CallId,
): readonly TurnEventBody[] {
  const { name, callId: providerCallId, arguments: input, isPartial } = upserted
  const known =
    turn === null
      ? undefined
      : [...callsOf(turn)].findLast((call) => call.providerCallId === providerCallId)
  if (known !== undefined && !isRetriable(known)) {
    const isSettled = !isOpenCall(known) || known.state === 'awaiting-approval'
    return isSettled ? [] : [{ type: 'call-revised', callId: known.id, name, input, isPartial }]
  }
  const opening = [...planOpening(turn), ...endText(openText(turn))]
  const callId = newCallId()
  const call = { id: callId, providerCallId, name }
  if (!isPartial) {
    return [...opening, { type: 'call-recorded', callId, call, input, approval: 'not-required' }]
  }
  return [
    ...opening,
    { type: 'call-announced', callId, call },
    { type: 'call-input-appended', callId, delta: JSON.stringify(input) },
  ]
}
