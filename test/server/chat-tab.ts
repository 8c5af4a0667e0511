import { createRequire, registerHooks } from 'node:module'
import { Chat as Chat7 } from '@ai-sdk/react'
import * as ai7 from 'ai'
import type { ChatInit, ChatTransport, DefaultChatTransport, UIMessage } from 'ai'

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

/** The chat that `useChat` makes, of `@ai-sdk/react`, as it comes out of the package. */
type Chat = Chat7<UIMessage>

export interface TabOptions {
  readonly url: string
  readonly threadId: string
  /** Whose code the tab runs. */
  readonly client: Sdk
  /** The SDK version that its requests declare; none, if null. */
  readonly declared?: Sdk | null
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
  const { client, declared = client, url, threadId, automatic } = options
  const query = declared === null ? '' : `?sdk=${declared}`
  const resumed = new URLSearchParams({
    ...(declared === null ? {} : { sdk: String(declared) }),
    ...(options.live === undefined ? {} : { message: options.live }),
  })
  const api = `${url}/api/chat`
  const { Chat, ai } = packages[client]
  const standard = new ai.DefaultChatTransport({
    api: `${api}${query}`,
    prepareReconnectToStreamRequest: ({ id }: { id: string }) => ({
      api: `${api}/${encodeURIComponent(id)}/stream?${resumed}`,
    }),
  })
  const chat = new Chat({
    id: threadId,
    transport: options.transport ?? standard,
    messages: [...(options.messages ?? [])],
    ...(automatic === undefined ? {} : { sendAutomaticallyWhen: ai[automaticRules[automatic]] }),
  })
  let wake = Promise.withResolvers<void>()
  const onChange = () => {
    wake.resolve()
    wake = Promise.withResolvers<void>()
  }
  // What the hook listens to.
  chat['~registerMessagesCallback'](onChange)
  chat['~registerStatusCallback'](onChange)
  chat['~registerErrorCallback'](onChange)
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

const automaticRules = {
  approvals: 'lastAssistantMessageIsCompleteWithApprovalResponses',
  outputs: 'lastAssistantMessageIsCompleteWithToolCalls',
} as const

interface Package {
  readonly Chat: new (init: ChatInit<UIMessage>) => Chat
  /** The `ai` that this `@ai-sdk/react` itself uses. */
  readonly ai: Pick<typeof ai7, (typeof automaticRules)[keyof typeof automaticRules]> & {
    readonly DefaultChatTransport: typeof DefaultChatTransport<UIMessage>
  }
}

function loadOld(name: string): Package {
  const { Chat } = require(name) as Pick<Package, 'Chat'>
  return { Chat, ai: requireOf(name)('ai') as Package['ai'] }
}

/** What that package itself would get. */
const requireOf = (name: string): NodeJS.Require => createRequire(require.resolve(name))

/** Of the `ai` that each client's package brings. */
export function versionOf(sdk: Sdk): string {
  const own = requireOf(names[sdk])('ai/package.json') as { readonly version: string }
  return own.version
}

// Their types differ in what they can say, not in what is called here.
const names = { 5: 'ai-sdk-react5', 6: 'ai-sdk-react6', 7: '@ai-sdk/react' } as const
const packages: Readonly<Record<Sdk, Package>> = {
  5: loadOld(names[5]),
  6: loadOld(names[6]),
  7: { Chat: Chat7, ai: ai7 },
}
