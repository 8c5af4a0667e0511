import { assertNever } from '../core/assert-never.ts'
import { HoldfastError } from '../core/holdfast-error.ts'
import { type CallId, type MessageId, parseMessageId, type ThreadId } from '../core/ids.ts'
import { isJsonObject, type Json } from '../core/json.ts'
import type { Message, Turn } from '../core/message.ts'
import { parseAnswers } from '../protocol/chat-body.ts'
import { retryWhileStale } from '../store/retry-while-stale.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { decideCalls } from './decide.ts'
import { pauseOf } from './clock.ts'
import type { Engine, Work } from './engine.ts'
import { createFailureWords } from './failure-words.ts'
import { toKnownTurn } from './known-turn.ts'
import { addToolOutputs, toToolOutput } from './add-tool-outputs.ts'
import { appendThreadEvents } from './append-thread-events.ts'
import type { RecordedPart, RecordedSource } from './recorded-parts.ts'
import { closeSource, type Recorded, startRecording } from './recording.ts'
import {
  type RecordedTurn,
  type RecordingResponseOptions,
  toRecordingResponse,
} from './recording-response.ts'
import {
  checkRecord,
  type ContinueRecording,
  isContinuation,
  type RecordRequest,
} from './record-request.ts'
import { readLatest } from './read-latest.ts'
import { type SendResult, send } from './send.ts'

/** How a recording answers whoever asked, whatever became of the request. */
export interface WithResponse {
  /** The turn as a UI message stream, read from the ledger; or why there is none, as the routes say it. */
  toResponse(options?: RecordingResponseOptions): Response
}

export type Recording = WithResponse &
  (
    | {
        readonly kind: 'recording'
        readonly turnId: MessageId
        /** The same parts with the ids that are stored, each given on only after what it says has been stored. */
        readonly stream: ReadableStream<RecordedPart>
        /** Resolves when the turn has been stored to its end, or waits. Never rejects. */
        readonly done: Promise<void>
        /**
         * For what turned out not to be taken at all: the message and its turn leave every view, and the
         * message's id is free again. A thread that was made for it goes with it. Waits for `done`.
         */
        withdraw(): Promise<void>
      }
    | Exclude<SendResult, { readonly kind: 'started' }>
  )

/**
 * Stores the stream of a loop that the host runs itself. The source is read to its end whatever becomes
 * of the reader, so a closed tab loses nothing.
 *
 * What holds: what is shown was stored before; every call ends or waits for somebody; reload, page and
 * stream agree; a failed or cut-off stream keeps what came; whatever comes twice or in the wrong order
 * changes nothing that was said. What cannot hold, because the host runs the tools: that a call is
 * durable before its tool runs, that a tool runs at most once, and carrying the turn on after a crash
 * (it is ended as interrupted instead).
 *
 * The source and the request are checked first: what is wrong with them is a `HoldfastError` with the code
 * `bad-option`; nothing has been stored, and the source is closed.
 */
export async function record(
  engine: Engine,
  newCallId: () => CallId,
  source: RecordedSource,
  request: RecordRequest,
): Promise<Recording> {
  checkRecord(source, request)
  const { threadId } = request
  const begun = Promise.withResolvers<Recorded>()
  const workFor =
    (turnId: MessageId): Work =>
    (ledger, hooks, place) => {
      const by = isContinuation(request) ? (request.by ?? 'host') : 'host'
      const recorded = startRecording({
        engine,
        newCallId,
        source,
        by,
        threadId,
        turnId,
        ledger,
        hooks,
        words: createFailureWords(place, engine.options.errorText, (where, error) =>
          hooks.failed(where, error),
        ),
      })
      begun.resolve(recorded)
      return recorded.run
    }
  const sent = isContinuation(request)
    ? await continueRecorded(engine, request, workFor)
    : await send(engine, request, workFor)
  const feed = {
    store: engine.store,
    subscribe: (id: ThreadId, after: number, signal = new AbortController().signal) =>
      engine.hub.follow(id, after, signal),
  }
  const respond = (turn: RecordedTurn) => (options?: RecordingResponseOptions) =>
    toRecordingResponse(feed, turn, options)
  if (sent.kind === 'started') {
    const { turnId } = sent
    const { stream, run, lost } = await begun.promise
    // A client that goes on with a turn has it, and would be shown twice what it is told again.
    const known = isContinuation(request) ? { known: knownTo(request, sent.turn) } : {}
    const toResponse = respond({ threadId, turnId, lost, ...known })
    const withdraw = async () => {
      await run.done
      await withdrawTurn(engine, request, turnId)
    }
    return { kind: 'recording', turnId, stream, done: run.done, toResponse, withdraw }
  }
  // Nobody reads it: whoever makes it is told so.
  closeSource(source[Symbol.asyncIterator]())
  switch (sent.kind) {
    case 'joined':
    case 'repeated':
      return { ...sent, toResponse: respond({ threadId, turnId: sent.turnId }) }
    case 'run-active':
      return {
        ...sent,
        toResponse: () => refuse(409, 'run-active', 'An answer is being produced in this thread.'),
      }
    // An answer of the host's own is there already, and does not wait.
    case 'queued':
    case 'steering':
      throw new HoldfastError('conflict', 'A message with this id waits for its turn.')
    case 'no-thread':
      return {
        ...sent,
        toResponse: () => refuse(404, 'thread-not-found', 'There is no such thread.'),
      }
    default:
      return assertNever(sent)
  }
}

async function withdrawTurn(
  engine: Engine,
  request: RecordRequest,
  turnId: MessageId,
): Promise<void> {
  // What is only gone on with was there before.
  if (isContinuation(request)) return
  const { threadId, message, create } = request
  const at = engine.clock.now()
  const messageIds = [message.id, turnId]
  await appendThreadEvents(engine, threadId, [{ type: 'messages-retired', at, messageIds }])
  if (create === undefined) return
  const { last } = (await readLatest(engine.store, threadId, 'full')) ?? {}
  if (last === undefined) await engine.store.deleteThread(threadId)
}

const refuse = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status })

const knownTo =
  ({ message }: ContinueRecording, before: Turn) =>
  (sdk: SdkVersion | undefined): Turn => {
    const parts = isJsonObject(message) && Array.isArray(message.parts) ? message.parts : null
    return parts === null ? before : toKnownTurn(before, parts as readonly Json[], sdk)
  }

/** Stores what people and the client's own tools said, as it stands in the message that came back. */
async function applyAnswers(engine: Engine, request: ContinueRecording): Promise<void> {
  const { threadId, message, by = 'host' } = request
  if (!isJsonObject(message)) return
  const { decisions, outputs } = parseAnswers(message)
  await decideCalls(engine, threadId, by, decisions)
  await addToolOutputs(engine, threadId, outputs.map(toToolOutput))
}

/** Takes the lease for a turn that is not over, or is to go on. */
async function continueRecorded(
  engine: Engine,
  request: ContinueRecording,
  workFor: (turnId: MessageId) => Work,
): Promise<SendResult> {
  const { threadId } = request
  const turnId = parseMessageId(request.continue)
  const before = await engine.store.readMessage(threadId, turnId)
  // The host is going on already, and is not told to.
  engine.continuations.set(turnId, engine.continuations.get(turnId) ?? (() => {}))
  try {
    if (before?.role === 'assistant') await applyAnswers(engine, request)
    return await beginContinuation(engine, threadId, turnId, before, workFor)
  } finally {
    engine.continuations.get(turnId)?.()
    engine.continuations.delete(turnId)
  }
}

async function beginContinuation(
  engine: Engine,
  threadId: ThreadId,
  turnId: MessageId,
  before: Message | null,
  workFor: (turnId: MessageId) => Work,
): Promise<SendResult> {
  return retryWhileStale(pauseOf(engine.clock), async (): Promise<SendResult | 'stale'> => {
    const latest = await readLatest(engine.store, threadId, 'full')
    if (latest === null) return { kind: 'no-thread' }
    const { last, seq, ownerId, queue } = latest
    if (before?.role !== 'assistant') {
      throw new HoldfastError('message-not-found', 'There is no such turn to go on with.')
    }
    if (last?.id !== turnId) {
      throw new HoldfastError('bad-request', 'Only the last turn of a thread can go on.')
    }
    if (last.role !== 'assistant' || last.progress.status === 'running') {
      return { kind: 'run-active', turnId }
    }
    const events = [{ type: 'turn-resumed', turnId, at: engine.clock.now() }] as const
    const result = await engine.begin({
      threadId,
      ownerId,
      turnId,
      how: 'continued',
      events,
      expectedSeq: seq,
      turns: [last],
      queue,
      work: workFor(turnId),
    })
    if (result.kind === 'appended') return { kind: 'started', turnId, after: seq, turn: before }
    if (result.kind === 'leased') return { kind: 'run-active', turnId: result.turnId }
    if (result.kind === 'no-thread') return { kind: 'no-thread' }
    if (result.kind === 'stale') return result.kind
    throw new HoldfastError('store-failed', `The turn could not go on: ${result.kind}.`)
  })
}
