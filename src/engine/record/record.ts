import { assertNever } from '../../core/assert-never.ts'
import { numberEvents, type NumberedEvent } from '../../core/event.ts'
import { HoldfastError } from '../../core/holdfast-error.ts'
import { type CallId, type MessageId, parseMessageId, type ThreadId } from '../../core/ids.ts'
import { isJsonObject, type Json } from '../../core/json.ts'
import type { Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { parseAnswers } from '../../protocol/chat-body.ts'
import type { SdkVersion } from '../../views/ui-vocabulary.ts'
import { decideCalls } from '../calls/decide.ts'
import type { Engine, Work } from '../engine.ts'
import type { FollowedPlace } from '../follow/hub.ts'
import { createFailureTexts } from '../run/failure-texts.ts'
import { toKnownTurn } from '../calls/known-turn.ts'
import { addToolOutputs, toToolOutput } from '../calls/add-tool-outputs.ts'
import {
  closeSource,
  type RecordedLoop,
  type RecordedPart,
  type RecordedSource,
} from './recorded-parts.ts'
import { type Recorded, startRecording } from './recording.ts'
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
import { beginLastAgain } from '../run/resume.ts'
import type { SendResult } from '../input/begin-answer.ts'
import { send } from '../input/send.ts'
import type { FoundTurn } from '../../store/store.ts'
import { isOther } from '../thread-scope.ts'
import { type Latest, readLatest } from '../threads/read-latest.ts'
import { withdrawTurn } from './withdraw-turn.ts'

/** The HTTP response of a recording, whatever the result of the request. */
export interface WithResponse {
  /** The turn as a UI message stream, read from the ledger; or the error response, as the routes would send it. */
  toResponse(options?: RecordingResponseOptions): Response
}

/** The result of `record`: the turn that is being recorded, or why there is none, as for `send`. */
export type Recording = WithResponse &
  (
    | {
        readonly kind: 'recording'
        readonly turnId: MessageId
        /**
         * The same parts with the ids that are stored; each part is delivered only after its events have been stored.
         */
        readonly stream: ReadableStream<RecordedPart>
        /** Resolves when the turn has been stored to its end, or waits. Never rejects. */
        readonly done: Promise<void>
        /**
         * For a message that was refused after all, by a backend for example: the message and its turn leave every view, its
         * id is free again, and what an edit or a regenerate had replaced is shown again. A thread that was created for it is
         * deleted. Nothing changes if the turn is no longer shown, or if it replaced something and messages follow it. Waits
         * for `done`.
         */
        withdraw(): Promise<void>
      }
    | Exclude<SendResult, { readonly kind: 'started' }>
  )

/**
 * Stores the stream of a loop that the host application runs itself. The source is read to its end whatever happens to
 * the reader, so a closed tab loses nothing.
 *
 * Guaranteed: what is shown was stored before; every call ends or waits for a person or the client; reload, page and
 * stream agree; a failed or cut-off stream keeps what arrived; parts that arrive twice or in the wrong order change
 * nothing that was stored. Not guaranteed, because the host application runs the tools: that a call is durable before
 * its tool runs, that a tool runs at most once, and that the turn is continued after a crash (it ends as interrupted
 * instead).
 *
 * The source and the request are checked first: an invalid one is a `HoldfastError` with the code `bad-option`; nothing
 * has been stored. Whatever the reason why the source is not read, it is closed.
 */
export async function record(
  engine: Engine,
  newCallId: () => CallId,
  source: RecordedSource | RecordedLoop,
  request: RecordRequest,
): Promise<Recording> {
  checkRecord(source, request)
  const { threadId } = request
  const begun = Promise.withResolvers<Recorded>()
  let isRead = false
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
        results: engine.resultMemory.open(place.ownerId),
        failureTexts: createFailureTexts(place, engine.options.errorText, (where, error) =>
          hooks.failed(where, error),
        ),
      })
      begun.resolve(recorded)
      isRead = true
      return recorded.run
    }
  /** What the commit of this request stored, of as many attempts as it took the last: what a withdrawal undoes. */
  let stored: readonly NumberedEvent[] = []
  const begin: Engine['begin'] = (given) => {
    stored = numberEvents(given.events, given.expectedSeq + 1)
    return engine.begin(given)
  }
  const sending = isContinuation(request)
    ? continueRecorded(engine, request, workFor)
    : send({ ...engine, begin }, request, workFor)
  const sent = await sending.catch((error: unknown) => {
    if (!isRead) closeSource(source)
    throw error
  })
  const feed = {
    store: engine.store,
    subscribe: (id: ThreadId, after: FollowedPlace, signal = new AbortController().signal) =>
      engine.hub.follow(id, after, signal),
  }
  const respond = (turn: RecordedTurn) => (options?: RecordingResponseOptions) =>
    toRecordingResponse(feed, turn, options)
  if (sent.kind === 'started') {
    const { turnId } = sent
    const { stream, run, lost } = await begun.promise
    // A client that continues a turn has its content already, and would show it twice if it were sent again.
    const known = isContinuation(request) ? { known: knownTo(request, sent.turn) } : {}
    const toResponse = respond({ threadId, turnId, lost, ...known })
    const withdraw = async () => {
      await run.done
      // A continued turn existed before this request.
      if (!isContinuation(request)) await withdrawTurn(engine, request, stored)
    }
    return { kind: 'recording', turnId, stream, done: run.done, toResponse, withdraw }
  }
  // The source will not be read: its producer is cancelled.
  closeSource(source)
  switch (sent.kind) {
    case 'joined':
    case 'repeated':
      return { ...sent, toResponse: respond({ threadId, turnId: sent.turnId }) }
    case 'run-active':
      return {
        ...sent,
        toResponse: () => refuse(409, 'run-active', 'An answer is running in this thread.'),
      }
    // The answer of the host application's loop exists already and cannot be queued.
    case 'queued':
    case 'steering':
      throw new HoldfastError('conflict', 'A message with this id is queued.')
    case 'no-thread':
      return {
        ...sent,
        toResponse: () => refuse(404, 'thread-not-found', 'There is no such thread.'),
      }
    default:
      return assertNever(sent)
  }
}

const refuse = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status })

const knownTo =
  ({ message }: ContinueRecording, before: Turn) =>
  (sdk: SdkVersion | undefined): Turn => {
    const parts = isJsonObject(message) && Array.isArray(message.parts) ? message.parts : null
    return parts === null ? before : toKnownTurn(before, parts as readonly Json[], sdk)
  }

/**
 * Stores the decisions and tool results that the returned message contains. False: there was none that was not stored
 * before.
 */
async function applyAnswers(
  engine: Engine,
  { threadId, message, by = 'host' }: ContinueRecording,
  found: FoundTurn,
): Promise<boolean> {
  if (!isJsonObject(message)) return false
  const { decisions, outputs } = parseAnswers(message)
  const decided = await decideCalls(engine, threadId, by, decisions, undefined, { found })
  const isDecided = decided.some(
    (result) => 'repeated' in result || result.kind === 'accepted' || result.kind === 'rejected',
  )
  const given = outputs.map(toToolOutput)
  const added = await addToolOutputs(engine, threadId, given, isDecided ? {} : { found })
  return isDecided || added.some(({ kind }) => kind === 'added')
}

/** Acquires the lease for a turn that has not ended, or is to be continued. */
async function continueRecorded(
  engine: Engine,
  request: ContinueRecording,
  workFor: (turnId: MessageId) => Work,
): Promise<SendResult> {
  const { threadId, ownerId } = request
  const turnId = parseMessageId(request.continue)
  const latest = await readLatest(engine.store, threadId, 'full')
  // Before its answers are stored: a decision on another owner's call would count (HT2).
  if (latest === null || isOther(latest.ownerId, ownerId)) return { kind: 'no-thread' }
  const { last: before, incarnation, ...place } = latest
  if (before?.id !== turnId || before.role !== 'assistant') {
    const earlier = await engine.store.readMessage(threadId, turnId, 'none')
    throw earlier?.role === 'assistant'
      ? new HoldfastError('bad-request', 'Only the last turn of a thread can be continued.')
      : new HoldfastError('message-not-found', 'There is no such turn to continue.')
  }
  // The host application is continuing the turn already, so `resumeRecorded` must not be called for it.
  engine.continuations.set(turnId, engine.continuations.get(turnId) ?? (() => {}))
  try {
    const found = withDefined({ ...place, threadId, turn: before }, { incarnation })
    const isChanged = await applyAnswers(engine, request, found)
    return await beginContinuation(
      engine,
      threadId,
      before,
      workFor,
      isChanged ? undefined : latest,
    )
  } finally {
    engine.continuations.get(turnId)?.()
    engine.continuations.delete(turnId)
  }
}

async function beginContinuation(
  engine: Engine,
  threadId: ThreadId,
  before: Turn,
  workFor: (turnId: MessageId) => Work,
  known: Latest | undefined,
): Promise<SendResult> {
  const { id: turnId } = before
  const begun = await beginLastAgain<never>(engine, threadId, {
    known,
    work: workFor(turnId),
    find({ last }): Turn {
      if (last?.id === turnId && last.role === 'assistant') return last
      throw new HoldfastError('bad-request', 'Only the last turn of a thread can be continued.')
    },
  })
  if (begun.kind !== 'begun') return begun
  const { after, incarnation } = begun
  return withDefined({ kind: 'started', turnId, after, turn: before } as const, { incarnation })
}
