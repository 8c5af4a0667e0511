import { assertNever } from '../../core/assert-never.ts'
import { type MessageId, parseMessageId, type ThreadId } from '../../core/ids.ts'
import { isOpenCall } from '../../core/call.ts'
import { callsOf, type Turn } from '../../core/message.ts'
import { withDefined } from '../../core/with-defined.ts'
import { checkAnswers, toClientOutput, toToolDecision } from '../chat-answers.ts'
import type { SendResult } from '../../engine/input/begin-answer.ts'
import type { StoredTurn } from '../../engine/follow/turn-stream.ts'
import { type ChatRequest, parseChatBody } from '../../protocol/chat-body.ts'
import { findAnswerRefusal } from '../answer-refusal.ts'
import { checkChatText } from '../check-text.ts'
import { type Reply, withReply } from '../chat-response.ts'
import {
  asOwner,
  checkMadeUpId,
  isOwned,
  orNotFound,
  parameter,
  readOwned,
  type ServerContext,
  threadOf,
} from '../context.ts'
import { ApiError } from '../../protocol/api-error.ts'
import { notFound, runActive } from '../http-error.ts'
import type { AnswerMethods } from '../../engine/calls/call-requests.ts'
import { toKnownTurn } from '../../engine/calls/known-turn.ts'
import { readJson } from '../read-json.ts'
import type { FoundTurn } from '../../store/store.ts'
import type { Route, RouteRequest } from '../router.ts'
import { otherHistoryNote } from '../../views/history-note.ts'
import { sdkOf } from './messages.ts'

/** The routes for AI SDK clients. */
export function chatRoutes(context: ServerContext): readonly Route[] {
  const { holdfast, limits } = context
  return [
    {
      method: 'POST',
      path: '/api/chat',
      handle: async (request) =>
        withReply(context, request, async (reply) => {
          const chat = parseChatBody(await readJson(request, limits.bodyBytes))
          checkChatText(chat, limits.textChars)
          if (chat.kind === 'answers') return answer(context, request, chat, reply)
          const sent = await inPlace(context, request, chat.threadId, async () => {
            const { ownerId } = request
            const { threadId } = chat
            if (chat.kind === 'send') {
              const { kind: _, lastAnswer: __, ...sending } = chat
              if (!isFirst(chat)) {
                return asOwner(context, request, threadId, () =>
                  holdfast.send({ ...sending, ownerId }),
                )
              }
              await checkMadeUpId(context, request, threadId)
              return holdfast.send({ ...sending, ownerId, create: { ownerId } })
            }
            const { kind: _, whenBusy, lastQuestion: __, ...regenerating } = chat
            const wanted = { ...regenerating, ownerId }
            return asOwner(context, request, threadId, () =>
              holdfast.regenerate(whenBusy === 'interrupt' ? { ...wanted, whenBusy } : wanted),
            )
          })
          const isLost = await showsOtherHistory(context, chat, sent)
          return respond(chat.threadId, sent, (turn) =>
            isLost ? reply(turn, otherHistoryNote) : reply(turn),
          )
        }),
    },
    {
      method: 'GET',
      path: '/api/chat/:id/stream',
      handle: async (request) =>
        withReply(context, request, async (reply) => {
          const message = parameter(request.url, 'message')
          const messageId = message === undefined ? undefined : parseMessageId(message)
          const threadId = threadOf(request)
          // Clients request this for a chat without messages, and treat a 404 as an error. Another owner's thread gets
          // the same response; a client that names a message must have seen one, and gets an error if it does not
          // exist.
          if (messageId === undefined && !(await isThreadOf(context, request, threadId))) {
            return new Response(null, { status: 204 })
          }
          const stored =
            messageId === undefined
              ? toLive(await readLast(context, request, threadId))
              : toStored(await findOwnTurn(context, request, threadId, messageId))
          if (stored === null) return new Response(null, { status: 204 })
          return reply({ threadId, turnId: stored.turn.id, stored })
        }),
    },
    {
      method: 'POST',
      path: '/api/chat/:id/stop',
      async handle(request) {
        const { ownerId } = request
        const stopped = await holdfast.stop(threadOf(request), { ownerId })
        if (stopped.kind === 'no-thread') throw notFound('thread')
        const { kind: status, held } = stopped
        return Response.json(held === 0 ? { status } : { status, held })
      },
    },
    {
      method: 'POST',
      path: '/api/chat/:id/continue',
      handle: async (request) =>
        withReply(context, request, async (reply) => {
          const threadId = threadOf(request)
          // What the client has of the answer: the response is what follows, and a refusal says what it waits for.
          const { turn: sent, ...place } = orNotFound(await readLast(context, request, threadId))
          const { ownerId } = request
          const found = sent === null ? undefined : { ...place, turn: sent }
          const gate = context.reads.gateOf(ownerId)
          const methods: AnswerMethods = holdfast
          const continued = await inPlace(context, request, threadId, () =>
            methods.continue(threadId, { ownerId }, { found, gate }),
          )
          switch (continued.kind) {
            case 'continued': {
              const { turnId } = continued
              return reply(sent?.id === turnId ? { threadId, turnId, sent } : { threadId, turnId })
            }
            case 'run-active':
              throw runActive(continued.turnId)
            case 'nothing-to-continue':
              throw nothingToContinue(sent)
            case 'no-thread':
              throw notFound('thread')
            default:
              return assertNever(continued)
          }
        }),
    },
  ]
}

function nothingToContinue(last: Turn | null): ApiError {
  const refuse = (message: string) => new ApiError(409, 'nothing-to-continue', message)
  if (last === null) return refuse('There is no answer to continue.')
  const { progress } = last
  if (progress.status !== 'waiting') return refuse('The last answer is complete.')
  return progress.waitingFor === 'client'
    ? refuse(
        'The last answer waits for a result of the client: it continues when the result arrives.',
      )
    : refuse('The last answer waits for a person: it continues after the decision.')
}

/** The owner's slot is held for as long as the run lives, not for as long as it is read. */
export async function inPlace<Result extends { readonly kind: string }>(
  { holdfast, runs }: ServerContext,
  { ownerId }: RouteRequest,
  threadId: ThreadId,
  begin: () => Promise<Result>,
): Promise<Result> {
  // A run in this thread already has its slot, and the turns that follow it keep it.
  const leave = holdfast.running().includes(threadId) ? () => {} : runs.acquire(ownerId)
  let isRunning = false
  try {
    const result = await begin()
    isRunning = ['started', 'continued', 'recording'].includes(result.kind)
    if (isRunning) void holdfast.settled(threadId).finally(leave)
    return result
  } finally {
    if (!isRunning) leave()
  }
}

/** Only a message that may be the first can create a thread: an edit needs an existing one. */
export const isFirst = ({
  replaces,
  message,
}: Extract<ChatRequest, { readonly kind: 'send' }>): boolean =>
  (replaces ?? message.id) === message.id

/**
 * Whether the last message that the client has is not stored, shown or hidden. It is looked for only if it is not the one before
 * the new turn. A failure of this read is ignored: the message is stored, and an error would claim that it is not.
 */
async function showsOtherHistory(
  { holdfast }: ServerContext,
  chat: Exclude<ChatRequest, { readonly kind: 'answers' }>,
  sent: SendResult,
): Promise<boolean> {
  if (sent.kind !== 'started' || (chat.kind === 'send' && chat.replaces !== undefined)) return false
  const [last, stored] =
    chat.kind === 'send' ? [chat.lastAnswer, sent.previous] : [chat.lastQuestion, sent.turn.replyTo]
  if (last === undefined || last === stored) return false
  const { store } = holdfast
  const found = async () =>
    (await store.readMessage(chat.threadId, last, 'lazy')) ??
    // One that joined a turn, or was withdrawn, is no message.
    (await store.findInput?.(chat.threadId, last))
  return (await found().catch(() => undefined)) === null
}

function respond(threadId: ThreadId, sent: SendResult, reply: Reply): Response {
  switch (sent.kind) {
    case 'started': {
      const { turnId, turn, incarnation = '' } = sent
      return reply({ threadId, turnId, stored: { turn, incarnation } })
    }
    case 'joined':
    case 'repeated':
    case 'steering':
      return reply({ threadId, turnId: sent.turnId })
    case 'queued': {
      const { messageId, after: seq, incarnation = '' } = sent
      return reply({ threadId, waiting: { messageId, after: { seq, incarnation } } })
    }
    case 'run-active':
      throw runActive(sent.turnId)
    case 'no-thread':
      throw notFound('thread')
    default:
      return assertNever(sent)
  }
}

/** Approvals and results from the client: it has the turn as it was, and is sent what follows. */
async function answer(
  context: ServerContext,
  request: RouteRequest,
  chat: Extract<ChatRequest, { readonly kind: 'answers' }>,
  reply: Reply,
): Promise<Response> {
  const { sent, decided, given, added } = await storeAnswers(context, request, chat)
  const refusal = findAnswerRefusal(chat.decisions, decided, given, added)
  if (refusal !== null) throw refusal
  return reply({ threadId: chat.threadId, turnId: chat.messageId, sent })
}

/** The turn is read once, and the answers are planned on what was read. `sent`: what the client has of the turn. */
export async function storeAnswers(
  context: ServerContext,
  request: RouteRequest,
  chat: Extract<ChatRequest, { readonly kind: 'answers' }>,
) {
  const methods: AnswerMethods = context.holdfast
  const { threadId, decisions, outputs } = chat
  const { ownerId } = request
  const found = await findOwnTurn(context, request, threadId, chat.messageId)
  const { turn } = found
  checkAnswers(turn, chat)
  const sent = toKnownTurn(turn, chat.parts, sdkOf(request.url))
  const gate = context.reads.gateOf(ownerId)
  const decided = await methods.decide(
    { threadId, ownerId, by: ownerId, decisions: decisions.map(toToolDecision) },
    { found, gate },
  )
  const given = outputs.map(toClientOutput)
  // A decision changes the turn, but no call that had ended: the answer to a repeated result stays the same. The others
  // are judged on the turn as it is now.
  const ended = new Set(callsOf(turn).flatMap((call) => (isOpenCall(call) ? [] : [call.id])))
  const isCurrent = decisions.length === 0 || outputs.every(({ callId }) => ended.has(callId))
  const known = isCurrent ? found : undefined
  const added = await methods.addToolOutputs(threadId, given, { found: known, gate })
  return { sent, decided, given, added }
}

/** One read returns turn and owner, however many calls the turn has. */
async function findOwnTurn(
  context: ServerContext,
  request: RouteRequest,
  threadId: ThreadId,
  turnId: MessageId,
): Promise<FoundTurn> {
  const { holdfast, reads } = context
  const { ownerId } = request
  const found = await reads.gateOf(ownerId)(() => holdfast.store.findTurn(turnId, 'bounded'))
  if (found?.threadId === threadId && found.ownerId === ownerId) return found
  await readOwned(context, request, threadId)
  throw notFound('message')
}

/**
 * A separate read, because most of these threads do not exist: a read of messages would queue behind the owner's other
 * reads.
 */
const isThreadOf = async ({ holdfast }: ServerContext, request: RouteRequest, id: ThreadId) =>
  isOwned(await holdfast.store.readThread(id), request)

/** The last turn of the caller's own thread, if the thread ends with one; null if the caller has no such thread. */
async function readLast(
  { holdfast, reads }: ServerContext,
  { ownerId }: RouteRequest,
  threadId: ThreadId,
): Promise<LastTurn | null> {
  const page = await reads.gateOf(ownerId)(() =>
    holdfast.store.readPage({
      threadId,
      limit: 1,
      before: null,
      live: 'include',
      results: 'bounded',
    }),
  )
  if (page?.ownerId !== ownerId) return null
  const { seq, queue, place } = page
  const [last] = page.messages
  const turn = last?.role === 'assistant' ? last : null
  return withDefined({ threadId, ownerId, seq, queue, turn }, { incarnation: place?.incarnation })
}

interface LastTurn extends Omit<FoundTurn, 'turn'> {
  /** Null: the thread does not end with one. */
  readonly turn: Turn | null
}

const toStored = ({ turn, incarnation = '' }: FoundTurn): StoredTurn => ({ turn, incarnation })

function toLive(last: LastTurn | null): StoredTurn | null {
  if (last?.turn?.progress.status !== 'running') return null
  return toStored({ ...last, turn: last.turn })
}
