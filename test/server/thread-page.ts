import type { UIMessage } from 'ai'
import { expect } from 'vitest'
import { openTab, type Sdk, type Tab, type TabOptions } from './chat-tab.ts'

export interface PageQuery {
  readonly url: string
  readonly threadId: string
  readonly sdk?: Sdk | null
  readonly live?: 'exclude'
}

/** The whole thread in the `ui` format, oldest first. */
export async function readPage({
  url,
  threadId,
  sdk = null,
  live,
}: PageQuery): Promise<readonly UIMessage[]> {
  const query = new URLSearchParams({ limit: '200' })
  if (sdk !== null) query.set('sdk', String(sdk))
  if (live !== undefined) query.set('live', live)
  const response = await fetch(`${url}/api/threads/${threadId}/messages?${query}`)
  expect(response.status).toBe(200)
  const { results } = (await response.json()) as { results: UIMessage[] }
  return results.toReversed()
}

/** What a reload does: the page without the live turn, then the live turn from its stream. */
export async function reload(
  options: Omit<TabOptions, 'messages'>,
): Promise<{ readonly tab: Tab; readonly resumed: Promise<void> }> {
  const { url, threadId, client, told = client } = options
  const messages = await readPage({ url, threadId, sdk: told, live: 'exclude' })
  const tab = openTab({ ...options, messages })
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
