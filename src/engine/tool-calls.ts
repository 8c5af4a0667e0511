import { isOpenCall, type Call, type CallOutcome } from '../core/call.ts'
import type { NewTurnEvent, TurnFact } from '../core/event.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import type { CallId, MessageId, ThreadId } from '../core/ids.ts'
import type { Json } from '../core/json.ts'
import { callsOf, type Turn, type TurnEnding } from '../core/message.ts'
import { planTurnEnd } from '../core/plan-turn-end.ts'
import type { Append } from '../store/plan-commit.ts'
import type { Store } from '../store/store.ts'
import type { CommitResult } from './committer.ts'
import { projectToolCalls, type ToolCallList } from '../views/tool-call-record.ts'

/**
 * For people who run their own loop (CL11). It writes the same ledger by the same rules; there is no
 * buffer beside it. A call is named by its message and by whatever id the provider gave it.
 */
export interface ToolCallRepository {
  /** One row per message and call id. A second one updates name, arguments and partiality. */
  upsert(call: UpsertedCall): Promise<void>
  /** False, and nothing changed, if there is no such call or it has ended. */
  setResult(messageId: MessageId, callId: string, result: Json): Promise<boolean>
  /** In call order: what is open or succeeded; with `all`, every call. */
  getByMessage(messageId: MessageId, include?: 'all'): Promise<ToolCallList>
  /** Ends an open call that gave no result. */
  markComplete(messageId: MessageId, callId: string): Promise<boolean>
  /** The message is done: its open calls are complete, and nothing of it is partial any more. */
  markAllComplete(messageId: MessageId): Promise<number>
  /** The message was broken off: its open calls never finished, and the default list leaves them out. */
  cleanupIncomplete(messageId: MessageId): Promise<number>
}

export interface UpsertedCall {
  readonly threadId: ThreadId
  readonly messageId: MessageId
  readonly callId: string
  readonly name: string
  readonly arguments: Json
  /** The arguments are still arriving. */
  readonly isPartial: boolean
}

export interface ToolCallRepositoryParts {
  readonly store: Store
  readonly append: (append: Append) => Promise<CommitResult>
  readonly now: () => number
  readonly newCallId: () => CallId
}

export function createToolCallRepository(parts: ToolCallRepositoryParts): ToolCallRepository {
  const { store, now } = parts

  /** Plans on what is stored and writes only if that is still so; else plans anew. */
  const write = async (
    threadId: ThreadId,
    messageId: MessageId,
    plan: (turn: Turn | null) => readonly NewTurnEvent[],
  ): Promise<void> => {
    while (true) {
      const thread = await store.readThread(threadId)
      if (thread === null) throw new HoldfastError('thread-not-found', 'There is no such thread.')
      const message = await store.readMessage(threadId, messageId)
      const turn = message?.role === 'assistant' ? message : null
      const events = plan(turn)
      if (events.length === 0) return
      const turns = turn === null ? [] : [turn]
      const result = await parts.append({ threadId, events, expectedSeq: thread.seq, turns })
      if (result.kind === 'appended') return
      if (result.kind !== 'stale') {
        throw new HoldfastError('bad-request', `The call could not be stored: ${result.kind}.`)
      }
    }
  }

  const fact = (turnId: MessageId, event: TurnFact): NewTurnEvent => ({
    ...event,
    turnId,
    at: now(),
  })

  const settleOpen = async (
    messageId: MessageId,
    fits: (call: Call) => boolean,
    outcome: CallOutcome,
    ending?: TurnEnding,
  ): Promise<number> => {
    const found = await store.findTurn(messageId)
    if (found === null) return 0
    let settled = 0
    await write(found.threadId, messageId, (turn) => {
      if (turn === null || turn.progress.status === 'ended') return []
      const open = [...callsOf(turn)].filter(isOpenCall).filter(fits)
      settled = open.length
      const events = open.map(({ id: callId }) =>
        fact(messageId, { type: 'call-settled', callId, outcome }),
      )
      return ending === undefined ? events : planTurnEnd(turn, ending, now(), () => outcome)
    })
    return settled
  }

  return {
    upsert: (upserted) =>
      write(upserted.threadId, upserted.messageId, (turn) =>
        planUpsert(upserted, turn, parts.newCallId).map((event) => fact(upserted.messageId, event)),
      ),

    async setResult(messageId, callId, result) {
      const output = { kind: 'inline', value: result } as const
      const fits = (call: Call) => call.providerCallId === callId
      return (await settleOpen(messageId, fits, { state: 'succeeded', output })) > 0
    },

    async getByMessage(messageId, include) {
      const found = await store.findTurn(messageId)
      if (found === null) return { toolCalls: [], isComplete: true }
      return projectToolCalls(found.turn, found.threadId, include === undefined ? {} : { include })
    },

    async markComplete(messageId, callId) {
      const fits = (call: Call) => call.providerCallId === callId
      return (await settleOpen(messageId, fits, noResult)) > 0
    },

    markAllComplete: (messageId) =>
      settleOpen(messageId, () => true, noResult, { kind: 'completed' }),

    cleanupIncomplete: (messageId) =>
      settleOpen(
        messageId,
        () => true,
        { state: 'interrupted', cause: 'crashed' },
        { kind: 'interrupted' },
      ),
  }
}

const noResult: CallOutcome = { state: 'succeeded', output: { kind: 'inline', value: null } }

function planUpsert(
  upserted: UpsertedCall,
  turn: Turn | null,
  newCallId: () => CallId,
): readonly TurnFact[] {
  const { name, callId: providerCallId, arguments: input, isPartial } = upserted
  const known = turn === null ? undefined : findCall(turn, providerCallId)
  if (known !== undefined) {
    const isSettled = !isOpenCall(known) || known.state === 'awaiting-approval'
    return isSettled ? [] : [{ type: 'call-revised', callId: known.id, name, input, isPartial }]
  }
  const opening: TurnFact[] = []
  if (turn === null) opening.push({ type: 'turn-started', replyTo: null })
  if (turn?.progress.status === 'ended') opening.push({ type: 'turn-resumed' })
  if (turn?.steps.at(-1)?.status !== 'open') {
    opening.push({ type: 'step-started', step: turn?.steps.length ?? 0 })
  }
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

function findCall(turn: Turn, providerCallId: string): Call | undefined {
  for (const call of callsOf(turn)) if (call.providerCallId === providerCallId) return call
  return undefined
}
