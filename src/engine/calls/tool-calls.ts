import { type Call, type CallFailure, type CallOutcome, isOpenCall } from '../../core/call.ts'
import type { NewTurnEvent, TurnEventBody } from '../../core/event.ts'
import { cutErrorText } from '../../core/error-text.ts'
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
  type Turn,
  type TurnEnding,
  type TurnError,
} from '../../core/message.ts'
import { planTurnEnd } from '../../core/plan-turn-end.ts'
import type { Append } from '../../store/plan-commit.ts'
import type { FoundTurn, Store } from '../../store/store.ts'
import type { MeterOptions } from '../run/answer-meter.ts'
import type { TurnPlace } from '../call-scope.ts'
import type { FailureTexts } from '../run/failure-texts.ts'
import { checkNames } from '../options/check-names.ts'
import { planText, planUpsert } from './plan-own-message.ts'
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
  /**
   * The call failed. A text is shown to people as it is; any other value is treated as what a tool has thrown: they see
   * what `errorText` returns for it, the model its message (HT6). False, and nothing changed, if there is no such call or it
   * has ended. @default cause 'tool-error'
   */
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
  /** The texts for what a tool has thrown (HT6). */
  readonly failureTexts: (place: TurnPlace) => Pick<FailureTexts, 'ofTool'>
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
    outcomeOf: (call: Call, place: TurnPlace) => CallOutcome,
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
      const outcomeIn = (call: Call) => outcomeOf(call, { ownerId, threadId, turnId: id })
      const open = [...callsOf(turn)].filter(isOpenCall).filter(fits)
      const events = open.map((call) =>
        toEvent(id, { type: 'call-settled', callId: call.id, outcome: outcomeIn(call) }),
      )
      if (ending === undefined) checkTurn(turn, charsOfJson(events))
      const all = ending === undefined ? events : planTurnEnd(turn, ending, now(), outcomeIn)
      const settled = { threadId, ownerId, settled: open.length, ended: ending !== undefined }
      return (await append(found, turn, all)) ?? settled
    })
  }

  /** Settles one call by its id. The first end stays, and every later one is counted. */
  const settleOne = async (
    messageId: MessageId,
    callId: string,
    outcomeOf: (call: Call, place: TurnPlace) => CallOutcome,
  ): Promise<boolean> => {
    const id = parseCallId(callId)
    const fits = (call: Call) => call.providerCallId === id
    const done = await settleOpen(messageId, fits, outcomeOf)
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

    async setResult(messageId, callId, result) {
      const value = asJson(result, 'result', limits.maxResultChars)
      const outcome = { state: 'succeeded', output: { kind: 'inline', value } } as const
      return settleOne(messageId, callId, () => outcome)
    },

    async setError(messageId, callId, error, cause = 'tool-error') {
      const state = 'failed'
      if (typeof error === 'string') {
        const outcome = { state, cause, error: cutErrorText(error) } as const
        return settleOne(messageId, callId, () => outcome)
      }
      // Worded once, however often the write is tried: each time is a line in the log.
      let outcome: CallOutcome | undefined
      return settleOne(messageId, callId, (call, place) => {
        outcome ??= { ...parts.failureTexts(place).ofTool(call, error), cause }
        return outcome
      })
    },

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

    markComplete: async (messageId, callId) => settleOne(messageId, callId, () => noResult),

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
