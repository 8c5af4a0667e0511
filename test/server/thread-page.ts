import type { UIMessage } from 'ai'
import { expect } from 'vitest'
import { openTab, type Sdk, type Tab, type TabOptions } from './chat-tab.ts'

export interface PageQuery {
  readonly url: string
  readonly threadId: string
  readonly sdk?: Sdk | null
  readonly live?: 'exclude'
}

type ReloadOptions = Omit<TabOptions, 'messages' | 'live'> & {
  /** The id as it stands in an address, where that differs. */
  readonly encoded?: string
}

interface Page {
  readonly results: readonly UIMessage[]
  readonly live?: { readonly messageId: string } | null
}

/** The whole thread in the `ui` format, oldest first. */
export async function readPage(query: PageQuery): Promise<readonly UIMessage[]> {
  return (await fetchPage(query)).results.toReversed()
}

async function fetchPage({ url, threadId, sdk = null, live }: PageQuery): Promise<Page> {
  const query = new URLSearchParams({ limit: '200' })
  if (sdk !== null) query.set('sdk', String(sdk))
  if (live !== undefined) query.set('live', live)
  const response = await fetch(`${url}/api/threads/${threadId}/messages?${query}`)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

/** What a reload does: the page without the live turn, then the live turn from its stream. */
export async function reload(
  options: ReloadOptions,
): Promise<{ readonly tab: Tab; readonly resumed: Promise<void> }> {
  const { url, threadId, client, declared = client, encoded = threadId } = options
  const page = await fetchPage({ url, threadId: encoded, sdk: declared, live: 'exclude' })
  const live = page.live?.messageId
  const messages = page.results.toReversed()
  const tab = openTab({ ...options, messages, ...(live === undefined ? {} : { live }) })
  return { tab, resumed: tab.chat.resumeStream() }
}

/** The documented difference of a client that cannot be told of decisions. */
export function withoutDecidedApprovals(messages: readonly UIMessage[]): readonly UIMessage[] {
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => {
      if (!('approval' in part) || part.state === 'approval-requested') return part
      const { approval, ...rest } = part
      return rest as typeof part
    }),
  }))
}
