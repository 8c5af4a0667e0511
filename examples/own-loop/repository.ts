import type { Holdfast } from 'holdfast'

/** A loop that writes its calls and its text itself. */
export async function lookUp({ toolCalls }: Holdfast, threadId: string): Promise<void> {
  const messageId = `turn-${crypto.randomUUID()}`
  const call = { threadId, messageId, callId: 'call_1', name: 'search' }
  await toolCalls.appendText({ threadId, messageId, text: 'Let me look.' })
  await toolCalls.upsert({ ...call, arguments: { q: 'wea' }, isPartial: true })
  await toolCalls.upsert({ ...call, arguments: { q: 'weather' }, isPartial: false })
  try {
    await toolCalls.setResult(messageId, 'call_1', await search('weather'))
  } catch (error) {
    await toolCalls.setError(messageId, 'call_1', error)
  }
  await toolCalls.appendText({ threadId, messageId, text: 'It is sunny.' })
  await toolCalls.markAllComplete(messageId)
}

const search = (q: string): Promise<{ hits: readonly string[] }> => Promise.resolve({ hits: [q] })
