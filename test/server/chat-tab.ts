import { createRequire, registerHooks } from 'node:module'
import {
  AbstractChat,
  type ChatInit,
  type ChatState,
  type ChatStatus,
  type ChatTransport,
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from 'ai'

// The old packages bring an OpenTelemetry whose `module` build is for bundlers: Node cannot load it.
registerHooks({
  resolve: (specifier, context, next) =>
    next(specifier, {
      ...context,
      conditions: context.conditions.filter((condition) => condition !== 'module'),
    }),
})
const require = createRequire(import.meta.url)

export type Sdk = 5 | 6 | 7
export const sdks = [5, 6, 7] as const

/** The AI SDK's own chat and transport, of the version, as they come out of the package. */
type Chat = AbstractChat<UIMessage>

export interface TabOptions {
  readonly url: string
  readonly threadId: string
  /** Whose code the tab runs. */
  readonly client: Sdk
  /** What the server is told of it; nothing, if null. */
  readonly told?: Sdk | null
  readonly messages?: readonly UIMessage[]
  readonly automatic?: 'approvals' | 'outputs'
  /** The turn that the page left out, so that it is replayed even if it has just ended. */
  readonly live?: string
  /** Instead of the SDK's own. */
  readonly transport?: ChatTransport<UIMessage>
}

export interface Tab {
  readonly chat: Chat
  /** As JSON: what is undefined is not there. */
  messages(): readonly UIMessage[]
  /** Resolves when the tab's messages or its status change. */
  changed(): Promise<void>
  /** Resolves when the messages fit. */
  until(fits: (messages: readonly UIMessage[]) => boolean): Promise<void>
  /** Resolves when nothing is under way in the tab. */
  idle(): Promise<void>
}

export function openTab(options: TabOptions): Tab {
  const { client, told = client, url, threadId, automatic } = options
  let wake = Promise.withResolvers<void>()
  const state = createState(options.messages ?? [], () => {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  })
  const query = told === null ? '' : `?sdk=${told}`
  const resumed = new URLSearchParams({
    ...(told === null ? {} : { sdk: String(told) }),
    ...(options.live === undefined ? {} : { message: options.live }),
  })
  const api = `${url}/api/chat`
  const { AbstractChat: Base, DefaultChatTransport: Transport } = packages[client]
  const standard = new Transport({
    api: `${api}${query}`,
    prepareReconnectToStreamRequest: ({ id }: { id: string }) => ({
      api: `${api}/${encodeURIComponent(id)}/stream?${resumed}`,
    }),
  })
  class PlainChat extends Base {}
  const init: ChatInit<UIMessage> & { state: ChatState<UIMessage> } = {
    id: threadId,
    transport: options.transport ?? standard,
    state,
    ...(automatic === undefined ? {} : { sendAutomaticallyWhen: automaticRules[automatic] }),
  }
  const chat = new PlainChat(init)
  const messages = () => JSON.parse(JSON.stringify(chat.messages)) as UIMessage[]
  const changed = () => wake.promise
  return {
    chat,
    messages,
    changed,
    async until(fits) {
      while (!fits(messages())) {
        if (chat.error !== undefined) throw chat.error
        await changed()
      }
    },
    async idle() {
      while (chat.status === 'streaming' || chat.status === 'submitted') await changed()
    },
  }
}

type Package = {
  readonly AbstractChat: new (init: ChatInit<UIMessage> & { state: ChatState<UIMessage> }) => Chat
  readonly DefaultChatTransport: typeof DefaultChatTransport<UIMessage>
}
// Their types differ in what they can say, not in what is called here.
const packages = {
  5: require('ai5') as Package,
  6: require('ai6') as Package,
  7: { AbstractChat, DefaultChatTransport } as unknown as Package,
} satisfies Record<Sdk, Package>

const automaticRules = {
  approvals: lastAssistantMessageIsCompleteWithApprovalResponses,
  outputs: lastAssistantMessageIsCompleteWithToolCalls,
}

function createState(initial: readonly UIMessage[], onChange: () => void): ChatState<UIMessage> {
  let status: ChatStatus = 'ready'
  let error: Error | undefined
  let messages: UIMessage[] = [...initial]
  const set = (next: UIMessage[]) => {
    messages = next
    onChange()
  }
  return {
    get status() {
      return status
    },
    set status(next) {
      status = next
      onChange()
    },
    get error() {
      return error
    },
    set error(next) {
      error = next
      onChange()
    },
    get messages() {
      return messages
    },
    set messages(next) {
      set([...next])
    },
    pushMessage: (message) => set([...messages, message]),
    popMessage: () => set(messages.slice(0, -1)),
    replaceMessage: (index, message) => set(messages.with(index, structuredClone(message))),
    snapshot: (thing) => structuredClone(thing),
  }
}
