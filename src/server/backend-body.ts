import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { callsOf } from '../core/message.ts'
import { readTurn } from '../engine/engine.ts'
import type { ChatRequest } from '../protocol/chat-body.ts'
import { longestHistory } from '../engine/options.ts'
import { readMessagePage } from '../engine/message-page.ts'
import type { Store } from '../store/store.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { withDefined } from '../core/with-defined.ts'

/** Whose history a backend behind the recording proxy is sent. */
export type ForwardedHistory = 'ledger' | 'client'

interface Forwarded {
  readonly store: Store
  /** As the client sent it. */
  readonly body: Json
  readonly chat: Exclude<ChatRequest, { readonly kind: 'regenerate' }>
  readonly sdk: SdkVersion | undefined
}

/**
 * The body that the backend is sent, with the ledger's history in the place of the client's: a client may have any
 * (RS6), and a backend that believes it answers to calls and approvals that never were. Read when the message has been
 * stored. What else is in the body stays as it is; one that has no `messages` carries no history, and stays too.
 */
export async function toBackendBody({ store, body, chat, sdk }: Forwarded): Promise<Json> {
  if (!isJsonObject(body) || !Array.isArray(body.messages)) return body
  const own = body.messages.at(-1) as Json | undefined
  if (!isJsonObject(own)) return body
  // AI SDK 4 and older have the text of a message in `content`, also where they have parts.
  const format = typeof own.content === 'string' ? 'vercel' : 'ui'
  // The turn that is being recorded is what the backend is about to say; one that goes on, it has to see.
  const live = chat.kind === 'send' ? 'exclude' : 'include'
  const messages: Json[] = []
  let cursor: string | undefined
  do {
    const page = await readMessagePage(
      store,
      withDefined({ threadId: chat.threadId, format, limit: 200, live } as const, { sdk, cursor }),
    )
    messages.push(...((page?.results ?? []) as unknown as readonly Json[]))
    cursor = page?.nextCursor ?? undefined
  } while (cursor !== undefined && messages.length < longestHistory)
  const answered = chat.kind === 'answers' ? await readAnswered(store, chat) : undefined
  const said = messages.toReversed().map((message) => {
    if (!isJsonObject(message) || message.id !== own.id) return message
    return answered === undefined ? own : withAnswers(message, own, answered)
  })
  return { ...body, messages: said }
}

/** The calls of the turn on which the ledger has what the client says that was decided. */
async function readAnswered(
  store: Store,
  { threadId, messageId, decisions }: Extract<ChatRequest, { readonly kind: 'answers' }>,
): Promise<ReadonlySet<string>> {
  const words = { accept: 'accepted', reject: 'rejected' } as const
  const calls = new Map(callsOf(await readTurn(store, threadId, messageId)).map((c) => [c.id, c]))
  const taken = decisions.filter(
    ({ callId, decision }) => calls.get(callId)?.decision?.kind === words[decision],
  )
  return new Set(taken.map(({ callId }) => callId))
}

/**
 * A loop of the AI SDK goes on with a call because its part says `approval-responded`, which a page, where the call
 * has gone on already, does not say. Everything else of the part, the arguments above all, is the ledger's.
 */
function withAnswers(stored: JsonObject, sent: JsonObject, answered: ReadonlySet<string>): Json {
  const given = new Map(
    (Array.isArray(sent.parts) ? (sent.parts as readonly Json[]) : []).flatMap((part) =>
      isJsonObject(part) && part.state === 'approval-responded' && isJsonObject(part.approval)
        ? [[part.toolCallId, part.approval] as const]
        : [],
    ),
  )
  const parts = (Array.isArray(stored.parts) ? (stored.parts as readonly Json[]) : []).map(
    (part) => {
      if (
        !isJsonObject(part) ||
        typeof part.toolCallId !== 'string' ||
        !answered.has(part.toolCallId)
      )
        return part
      const approval = given.get(part.toolCallId)
      return approval === undefined ? part : { ...part, state: 'approval-responded', approval }
    },
  )
  return { ...stored, parts }
}
