import { useEffect, useMemo, useRef } from 'react'
import type { Change } from '../core/fold-thread.ts'
import { foldThread } from '../core/fold-thread.ts'
import { type NewEvent, numberEvents } from '../core/event.ts'
import { isJsonObject } from '../core/json.ts'
import { isTurn, type Turn } from '../core/message.ts'
import { readLegacyMessages } from '../import/read-legacy-messages.ts'
import type { CallActions } from './call-actions.ts'

/** The fields of an AI SDK `UIMessage` that are read; its parts are `unknown` and validated. */
export interface ChatMessageLike {
  readonly id: string
  readonly role: string
  readonly parts: readonly unknown[]
}

/**
 * A message of `useChat` as the turn that the widgets render, for applications that keep their own messages. It is
 * converted to events and folded like everything else. `isLive`: `useChat` is still receiving it. Null for a message
 * that is not the assistant's.
 */
export function toTurn(message: ChatMessageLike, isLive: boolean): Turn | null {
  if (message.role !== 'assistant') return null
  const { events } = readLegacyMessages([message], { format: 'ui', threadId: 'chat', at: 0 })
  const current = numberEvents(withCurrentProgress(message, isLive, events), 1)
  const changes = current.map((event): Change => ({ kind: 'event', seq: event.seq, event }))
  return foldThread({ seq: 0, messages: [] }, changes).messages.find(isTurn) ?? null
}

/** Removes the end events that the importer adds because old data is complete: this message is not. */
function withoutEnd(events: readonly NewEvent[]): readonly NewEvent[] {
  const lastStep = events.findLastIndex(({ type }) => type === 'step-ended')
  return events.filter(
    (event, index) =>
      event.type !== 'turn-ended' &&
      index !== lastStep &&
      !(event.type === 'call-settled' && event.outcome.state === 'interrupted'),
  )
}

function withCurrentProgress(
  { parts }: ChatMessageLike,
  isLive: boolean,
  events: readonly NewEvent[],
): readonly NewEvent[] {
  if (isLive) return withProgress(parts, withoutEnd(events))
  const has = (state: string) => parts.some((part) => isJsonObject(part) && part['state'] === state)
  if (has('approval-requested')) return asPaused(events)
  // All approvals are answered, and useChat is about to send the answers.
  return has('approval-responded') ? withoutEnd(events) : events
}

/** The importer treats the preliminary output of a running call as abandoned; here it is progress (CL10). */
const withProgress = (
  parts: readonly unknown[],
  events: readonly NewEvent[],
): readonly NewEvent[] =>
  events.flatMap((event): readonly NewEvent[] => {
    if (event.type !== 'call-recorded') return [event]
    const { turnId, at, callId } = event
    const part = parts.findLast((each) => isJsonObject(each) && each['toolCallId'] === callId)
    if (!isJsonObject(part) || part['preliminary'] !== true) return [event]
    const output = part['output'] ?? null
    return [
      event,
      { type: 'call-started', turnId, at, callId },
      { type: 'call-progressed', turnId, at, callId, output },
    ]
  })

/** The stream has ended, but the turn has not: it continues when the approvals are answered. */
const asPaused = (events: readonly NewEvent[]): readonly NewEvent[] => [
  ...withoutEnd(events),
  ...events.flatMap((event): readonly NewEvent[] => {
    if (event.type !== 'turn-ended') return []
    return [{ type: 'turn-paused', turnId: event.turnId, at: event.at, waitingFor: 'approval' }]
  }),
]

/** `toTurn` in a component: the same turn while the message is the same object. */
export const useChatTurn = (message: ChatMessageLike, isLive: boolean): Turn | null =>
  useMemo(() => toTurn(message, isLive), [message, isLive])

/** The fields of `useChat`'s result that an answer to an approval needs. */
export interface ChatLike {
  /** Searched for the call that a person answers. */
  readonly messages: readonly ChatMessageLike[]
  /** Sends the answer; available since AI SDK 6. */
  readonly addToolApprovalResponse: (answer: {
    readonly id: string
    readonly approved: boolean
    readonly reason?: string
  }) => void | PromiseLike<void>
}

/**
 * What a person can do with the calls of `useChat`: accept and reject. The AI SDK has no answer with other arguments,
 * so they cannot be edited.
 */
export function useChatActions(chat: ChatLike): CallActions {
  const latest = useRef(chat)
  useEffect(() => {
    latest.current = chat
  })
  // The same object for the life of the page, so that a delta renders no card again.
  return useMemo(
    () => ({
      editsArguments: false,
      async decide(callId, { decision, feedback }) {
        const id = approvalOf(latest.current.messages, callId)
        if (id === undefined) throw new Error('This call does not wait for an answer any more.')
        await latest.current.addToolApprovalResponse({
          id,
          approved: decision === 'accept',
          ...(feedback === undefined ? {} : { reason: feedback }),
        })
      },
    }),
    [],
  )
}

function approvalOf(messages: readonly ChatMessageLike[], callId: string): string | undefined {
  const part = messages
    .flatMap(({ parts }) => parts)
    .findLast((each) => isJsonObject(each) && each['toolCallId'] === callId)
  if (!isJsonObject(part) || part['state'] !== 'approval-requested') return undefined
  const { approval } = part
  return isJsonObject(approval) && typeof approval['id'] === 'string' ? approval['id'] : undefined
}
