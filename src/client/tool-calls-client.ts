import {
  callback,
  checkOptions,
  having,
  oneOfWords,
  type OptionTable,
  text,
} from '../core/check-options.ts'
import { callsOf, isTurn, type Message, type Turn } from '../core/message.ts'
import type { Json } from '../core/json.ts'
import { ApiError } from '../protocol/api-error.ts'
import { sameJson } from '../views/same-json.ts'
import {
  projectToolCalls,
  type ToolCallList,
  type ToolCallRecord,
} from '../views/tool-call-record.ts'
import { type ApiOptions, apiRules, createTimedApi, isFinal } from './api.ts'
import { backOffMs } from './connection.ts'
import { createExternalStore, type ExternalStore } from './external-store.ts'
import { type ClientClock, createNetwork, type Network, systemClock } from './network.ts'
import type { ThreadClient } from './thread-snapshot.ts'

/** The calls of a message at one moment. */
export interface ToolCallsSnapshot extends ToolCallList {
  /** Nothing has been read yet. */
  readonly isLoading: boolean
}

/** The options of `createToolCallsClient`. */
export interface ToolCallsClientOptions extends ApiOptions {
  /** The message that the calls belong to: the id of a turn. */
  readonly messageId: string
  /**
   * `all`: every call, so that one that fails stays in the list.
   * @default what is open or succeeded
   */
  readonly include?: 'all'
  /** The client of a thread. All users of one client share its connection. */
  readonly thread: (threadId: string) => ThreadClient
  /**
   * From 0 to 1, for the random share of a delay.
   * @default Math.random
   */
  readonly random?: () => number
  /** As in `createThreadClient`. @default the browser's */
  readonly network?: Network
  /** As in `createThreadClient`. @default the system's */
  readonly clock?: ClientClock
}

export const toolCallsClientRules: OptionTable<ToolCallsClientOptions> = {
  ...apiRules,
  messageId: text(),
  include: oneOfWords(['all'], 'what is open or succeeded'),
  thread: callback(),
  random: callback('Math.random'),
  network: having(
    'a network with isOnline, guard and wait',
    ['isOnline', 'guard', 'wait'],
    'the browser’s',
  ),
  clock: having('a clock with now and after', ['now', 'after'], 'the system’s'),
}

interface ReadList extends ToolCallList {
  readonly threadId: string
  readonly seq: number
}

/**
 * The calls of one message, by its id alone, while there is a subscriber. They are read once; after that they follow
 * the thread's events. When the turn has ended no connection is kept for them, but changes that are followed for others
 * (a turn that is continued) still show.
 */
export function createToolCallsClient(
  options: ToolCallsClientOptions,
): ExternalStore<ToolCallsSnapshot> {
  checkOptions('createToolCallsClient', options, toolCallsClientRules)
  const { messageId, include, clock = systemClock, random = Math.random } = options
  const network = options.network ?? createNetwork(clock)
  const api = createTimedApi(options, clock)
  const query = include === undefined ? '' : `?include=${include}`
  const path = `/api/messages/${encodeURIComponent(messageId)}/tool-calls${query}`
  const store = createExternalStore<ToolCallsSnapshot>(
    { toolCalls: [], isComplete: false, isLoading: true },
    () => {
      const stop = new AbortController()
      void follow(stop.signal)
      return () => stop.abort()
    },
  )

  const show = ({ toolCalls, isComplete }: ToolCallList) =>
    store.update((before) => {
      const isSame = sameJson(before.toolCalls as unknown as Json, toolCalls as unknown as Json)
      return isSame && before.isComplete === isComplete && !before.isLoading
        ? before
        : { toolCalls: isSame ? before.toolCalls : toolCalls, isComplete, isLoading: false }
    })

  /** Null when a retry is useless: there is no such message, or it belongs to another owner. */
  const read = async (signal: AbortSignal): Promise<ReadList | null> => {
    for (let attempt = 1; !signal.aborted; attempt++) {
      let retryAfterMs = 0
      try {
        return await api.get<ReadList>(path, signal)
      } catch (error) {
        if (isFinal(error)) return null
        if (error instanceof ApiError) ({ retryAfterMs } = error)
      }
      await network.wait(backOffMs(attempt, random(), retryAfterMs), signal)
    }
    return null
  }

  const follow = async (signal: AbortSignal): Promise<void> => {
    const first = await read(signal)
    if (signal.aborted) return
    if (first === null) return show({ toolCalls: [], isComplete: false })
    const { threadId } = first
    let known: ReadList = first
    const client = options.thread(threadId)
    let isFollowing: boolean | undefined
    let leave = () => {}
    let isReading = false

    const listen = (isOpen: boolean) => {
      // A listener of this list may have left while it was shown.
      if (signal.aborted || isOpen === isFollowing) return
      isFollowing = isOpen
      leave()
      const stop = isOpen ? client.subscribe(look) : client.observe(look)
      // `look` may have run before `subscribe` returned, and have seen the end of the turn.
      if (isFollowing === isOpen && !signal.aborted) leave = stop
      else stop()
    }
    const publish = (list: ReadList) => {
      known = list
      show(list)
      listen(!list.isComplete)
    }
    const look = () => {
      const turn = client.getSnapshot().messages.find(isTurnOf(messageId))
      // The thread's client may be behind what was read.
      if (turn === undefined || turn.lastSeq <= known.seq) return
      const list = projectToolCalls(turn, threadId, include === undefined ? {} : { include })
      const whole = withResults(list.toolCalls, turn, known.toolCalls)
      if (whole !== null) publish({ ...list, toolCalls: whole, threadId, seq: turn.lastSeq })
      else void readAgain()
    }
    /** A page of the thread leaves large results out, so the list has to be read again. */
    const readAgain = async () => {
      if (isReading) return
      isReading = true
      const before = known.seq
      const list = await read(signal)
      isReading = false
      if (list === null || signal.aborted) return
      if (list.seq >= known.seq) publish(list)
      // What came during the read may be newer than the list. One that is no newer than before would be read for ever.
      if (list.seq > before) look()
    }
    signal.addEventListener('abort', () => leave())
    publish(first)
    look()
  }
  return store
}

const isTurnOf =
  (id: string) =>
  (message: Message): message is Turn =>
    isTurn(message) && message.id === id

/** Each call with its whole result, from what is known already; null if one has to be read. */
function withResults(
  records: readonly ToolCallRecord[],
  turn: Turn,
  known: readonly ToolCallRecord[],
): readonly ToolCallRecord[] | null {
  const omitted = new Set<string>()
  for (const call of callsOf(turn)) {
    if (call.state === 'succeeded' && call.output.kind === 'omitted') omitted.add(call.id)
  }
  if (omitted.size === 0) return records
  const results = new Map(known.map((record) => [record.id, record]))
  const whole = records.map((record) => {
    if (!omitted.has(record.id)) return record
    const before = results.get(record.id)
    return before?.result === undefined ? null : { ...record, result: before.result }
  })
  return whole.some((record) => record === null) ? null : (whole as readonly ToolCallRecord[])
}
