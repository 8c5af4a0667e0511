import assert from 'node:assert/strict'
import type { ToolCallRecord } from '../../views/tool-call-record.ts'
import { type Conversation, converse, readCalls } from './chat-requests.ts'
import { isEnded, openFeed } from './event-feed.ts'
import { type HttpClient, newId } from './http-client.ts'

export interface Waiting extends Conversation {
  readonly calls: readonly ToolCallRecord[]
}

export async function waitFor(client: HttpClient, text: string): Promise<Waiting> {
  const conversation = await converse(client, text)
  const calls = await readCalls(client, conversation.messageId)
  assert.ok(calls.every(({ state }) => state === 'awaiting-approval'))
  return { ...conversation, calls }
}

export const decisionOf = ({ threadId }: Conversation, call: ToolCallRecord | undefined) =>
  `/api/threads/${threadId}/tool-calls/${call?.id}/decision`

export async function untilEnded(client: HttpClient, { threadId }: Conversation): Promise<void> {
  const feed = await openFeed(client, threadId, { after: 0 })
  await feed.until(isEnded)
  await feed.close()
}

/** The title of a note that does not exist, so that running the rules deletes no real note. */
export const note = () => newId('Nothing')
