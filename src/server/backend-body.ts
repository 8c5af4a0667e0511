import type { Call } from '../core/call.ts'
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts'
import { callsOf } from '../core/message.ts'
import { readTurn } from '../engine/engine.ts'
import type { ChatRequest } from '../protocol/chat-body.ts'
import { toCallAddress } from '../protocol/addresses.ts'
import { readHistory } from '../engine/model/read-history.ts'
import { projectMessage } from '../engine/threads/message-page.ts'
import { createPacer } from '../store/pacer.ts'
import type { Store } from '../store/store.ts'
import type { SdkVersion } from '../views/ui-vocabulary.ts'
import { withDefined } from '../core/with-defined.ts'

/** Whose history is sent to a backend behind the recording proxy. */
export type ForwardedHistory = 'ledger' | 'client'

interface Forwarded {
  readonly store: Store
  /** As the client sent it. */
  readonly body: Json
  readonly chat: Exclude<ChatRequest, { readonly kind: 'regenerate' }>
  readonly sdk: SdkVersion | undefined
}

/**
 * The body that the backend is sent, with the ledger's history in place of the client's: a client may send any history
 * (RS6), and a backend that trusts it continues calls and approvals that never existed. Read after the message has been
 * stored. Other fields of the body stay unchanged; a body without `messages` contains no history, and stays unchanged
 * too.
 */
export async function toBackendBody({ store, body, chat, sdk }: Forwarded): Promise<Json> {
  if (!isJsonObject(body) || !Array.isArray(body.messages)) return body
  const own = body.messages.at(-1) as Json | undefined
  if (!isJsonObject(own)) return body
  // AI SDK 4 and older have the text of a message in `content`, also where they have parts.
  const format = typeof own.content === 'string' ? 'vercel' : 'ui'
  // A new turn is what the backend is about to produce, so it is excluded; a continued one is included.
  const live = chat.kind === 'send' ? 'exclude' : 'include'
  const { threadId } = chat
  const query = { threadId, before: null, live, results: 'bounded' } as const
  const stored = await readHistory(store, query)
  const answered = chat.kind === 'answers' ? await readAnswered(store, chat) : undefined
  const lazyHref = ({ id }: Call) => toCallAddress(threadId, id)
  const pace = createPacer()
  const messages: Json[] = []
  for (const message of stored.messages) {
    const [shown] = projectMessage(message, format, withDefined({ lazyHref }, { sdk }))
    if (shown !== undefined) messages.push(toSent(shown as unknown as JsonObject, own, answered))
    const pause = pace()
    if (pause !== undefined) await pause
  }
  return { ...body, messages }
}

/** The newest message is the client's own; of a turn that the client answered, only the answers are. */
function toSent(
  stored: JsonObject,
  own: JsonObject,
  answered: ReadonlySet<string> | undefined,
): Json {
  if (stored.id !== own.id) return stored
  return answered === undefined ? own : withAnswers(stored, own, answered)
}

/** The calls of the turn for which the ledger has the decision that the client reports. */
async function readAnswered(
  store: Store,
  { threadId, messageId, decisions }: Extract<ChatRequest, { readonly kind: 'answers' }>,
): Promise<ReadonlySet<string>> {
  const decisionNames = { accept: 'accepted', reject: 'rejected' } as const
  const calls = new Map(callsOf(await readTurn(store, threadId, messageId)).map((c) => [c.id, c]))
  const stored = decisions.filter(
    ({ callId, decision }) => calls.get(callId)?.decision?.kind === decisionNames[decision],
  )
  return new Set(stored.map(({ callId }) => callId))
}

/**
 * A loop of the AI SDK continues a call because its part has the state `approval-responded`, which a page no longer has
 * where the call has already continued. Everything else of the part, above all the arguments, comes from the ledger.
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
