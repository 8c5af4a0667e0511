import { setImmediate } from 'node:timers/promises'
import type { MessageId, Seq, ThreadId } from '../../core/ids.ts'
import type { Json } from '../../core/json.ts'
import { countJsonChars, isLargerThan } from '../../core/json-size.ts'
import { isTurn, type Message, type Part } from '../../core/message.ts'
import { bytesPerSlice } from '../../store/pacer.ts'
import type { Page, PageQuery, Store } from '../../store/store.ts'
import { projectPromptOutput } from '../../views/prompt-output.ts'
import { longestHistory, longestHistoryChars, smallHistoryChars } from '../options/options.ts'

/** Which messages of a thread a history is made of, and how much of each. */
export interface HistoryQuery extends Pick<PageQuery, 'threadId' | 'before' | 'live' | 'results'> {
  /** Applied to each message when it is read: what it removes is neither counted nor kept. @default nothing is removed */
  readonly shorten?: (message: Message) => Message
}

/** A history, and its size in the unit of `longestHistoryChars`. */
export interface BoundedHistory {
  readonly messages: readonly Message[]
  readonly chars: number
}

/**
 * The newest messages of a thread within `longestHistory` and `longestHistoryChars`, oldest first. Read in pages, so that the
 * history of one thread does not block the process, and of what is beyond the limits one message at most is read (OP7).
 */
export async function readHistory(
  store: Store,
  { threadId, before, live, results, shorten = (message) => message }: HistoryQuery,
): Promise<BoundedHistory> {
  const history = createHistory()
  let leftOut: MessageId | null = null
  for (let from = before; ;) {
    const page: Page | null = await store.readPage({
      ...{ threadId, live, results, before: from },
      limit: longestHistory - history.length,
      maxBytes: bytesPerSlice,
    })
    if (page === null) break
    leftOut ??= page.live
    // The live turn may have ended since the first read, which reported it as left out.
    const read = page.messages.filter(({ id }) => id !== leftOut)
    const isWithin = read.every((message) => history.add(shorten(message)))
    from = page.messages.at(-1)?.seq ?? null
    if (!isWithin || !page.hasMore || from === null || history.length === longestHistory) break
    await setImmediate()
  }
  return history.bounded()
}

/** Which history a prompt is made of. */
export interface PromptHistoryQuery {
  readonly threadId: ThreadId
  readonly before: Seq | null
  readonly maxOutputChars: number
}

/** The history of a prompt, with results as the model is sent them. */
export function readPromptHistory(
  store: Store,
  { threadId, before, maxOutputChars }: PromptHistoryQuery,
): Promise<BoundedHistory> {
  const shorten = (message: Message) => withCutResults(message, maxOutputChars)
  return readHistory(store, { threadId, before, live: 'include', results: 'full', shorten })
}

/** The messages before a turn, oldest first. */
export interface HistorySource {
  /** In one read. Null: they have more than `smallHistoryChars`. */
  readSmall(): Promise<BoundedHistory | null>
  read(): Promise<BoundedHistory>
}

/** `known`: all of them, where they have just been read. */
export function createHistorySource(
  store: Store,
  query: PromptHistoryQuery,
  select: (messages: readonly Message[]) => readonly Message[],
  known?: readonly Message[],
): HistorySource {
  // A large one is not kept: a run that waits for memory must not hold what it waits for (OP7).
  const small = known === undefined ? undefined : smallHistoryOf(known)
  const selected = ({ messages, chars }: BoundedHistory) => ({ messages: select(messages), chars })
  return {
    async readSmall() {
      const found = small === undefined ? await readSmallHistory(store, query) : small
      return found === null ? null : selected(found)
    },
    read: async () => selected(await readPromptHistory(store, query)),
  }
}

async function readSmallHistory(
  store: Store,
  { threadId, before, maxOutputChars }: PromptHistoryQuery,
): Promise<BoundedHistory | null> {
  const page = await store.readPage({
    ...{ threadId, before, live: 'include', results: 'full' },
    limit: longestHistory,
    maxBytes: bytesPerSlice,
  })
  if (page === null || page.hasMore) return null
  const messages = page.messages.map((message) => withCutResults(message, maxOutputChars))
  return smallHistoryOf(messages.toReversed())
}

function smallHistoryOf(messages: readonly Message[]): BoundedHistory | null {
  const history = boundHistory(messages)
  return history.chars <= smallHistoryChars ? history : null
}

/** The newest of these messages that are within the limits of a history; oldest first, as they are given. */
function boundHistory(messages: readonly Message[]): BoundedHistory {
  const history = createHistory()
  messages.toReversed().every((message) => history.add(message))
  return history.bounded()
}

/**
 * Collects a history from its newest message on. It ends before the first message that does not fit, so that nothing is
 * missing between two of its messages. The newest is part of it whatever its size: without the question there is nothing
 * that a model could answer.
 */
function createHistory() {
  const kept: Message[] = []
  let chars = 0
  return {
    get length() {
      return kept.length
    },
    /** False: the history is full. */
    add(message: Message): boolean {
      const most = longestHistoryChars - chars
      const size = countJsonChars(message, most)
      if (kept.length > 0 && (size > most || kept.length === longestHistory)) return false
      chars += size
      kept.push(message)
      return true
    },
    bounded: (): BoundedHistory => ({ messages: kept.toReversed(), chars }),
  }
}

/** More than the note that follows a result that was cut. */
const noteChars = 64
/** A smaller `maxOutputChars` has no room for the note. */
const leastOutputChars = 1_000

/**
 * Replaces each result that is longer than what the model is sent of it by just that: a single result may have as many
 * characters as a whole history, which would then end there. The note about the length is within the limit here, because
 * the prompt cuts what exceeds it once more, and would then report the length of what was cut already (ST4b).
 */
function withCutResults(message: Message, maxOutputChars: number): Message {
  if (!isTurn(message) || maxOutputChars < leastOutputChars) return message
  const isLong = (value: Json | undefined) =>
    value !== undefined && isLargerThan(value, maxOutputChars)
  const toPart = (part: Part): Part => {
    // A provider is sent its own results unchanged, however long they are.
    if (part.type !== 'call' || part.state !== 'succeeded' || part.providerExecuted) return part
    const { output, modelOutput } = part
    if (output.kind === 'omitted' || !(isLong(output.value) || isLong(modelOutput))) return part
    const bytes = countJsonChars(output.value, Number.POSITIVE_INFINITY)
    const cut = projectPromptOutput(part, maxOutputChars - noteChars)
    return { ...part, output: { kind: 'omitted', bytes }, modelOutput: copyJson(cut) }
  }
  return {
    ...message,
    steps: message.steps.map((step) => ({ ...step, parts: step.parts.map(toPart) })),
  }
}

/** A slice of a string keeps the whole string in memory; only a copy lets go of it. */
const copyJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json
