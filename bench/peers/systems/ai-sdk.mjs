import { convertToModelMessages, isStepCount, streamText, tool, toUIMessageStream } from 'ai'
import { DatabaseSync } from 'node:sqlite'
import { z } from 'zod'
import {
  model,
  question,
  showChunk,
  takeNote,
  toolDescription,
  toolName,
  toReloaded,
} from '../script.mjs'

/**
 * The AI SDK with its messages saved when the answer is finished, as its documentation shows; the question is saved first, which is
 * more than it asks for. SQLite waits for the disk, as Holdfast does.
 */
export async function open(address, wrap = (_, chunks) => chunks) {
  const db = new DatabaseSync(`${address}.db`)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 2000;
    CREATE TABLE IF NOT EXISTS chats (id TEXT PRIMARY KEY, messages TEXT NOT NULL) STRICT`)
  const save = (id, messages) =>
    db
      .prepare(
        'INSERT INTO chats VALUES (?, ?) ON CONFLICT DO UPDATE SET messages = excluded.messages',
      )
      .run(id, JSON.stringify(messages))
  const load = (id) =>
    JSON.parse(db.prepare('SELECT messages FROM chats WHERE id = ?').get(id)?.messages ?? '[]')
  return {
    async ask(threadId) {
      const messages = [
        ...load(threadId),
        { id: `${threadId}-q`, role: 'user', parts: [{ type: 'text', text: question }] },
      ]
      save(threadId, messages)
      const { stream } = streamText({
        model,
        messages: await convertToModelMessages(messages),
        stopWhen: isStepCount(5),
        tools: {
          [toolName]: tool({
            description: toolDescription,
            inputSchema: z.object({ text: z.string() }),
            execute: takeNote,
          }),
        },
      })
      const chunks = toUIMessageStream({
        stream,
        originalMessages: messages,
        generateMessageId: () => `${threadId}-a`,
        onEnd: ({ messages: all }) => save(threadId, all),
      })
      for await (const chunk of await wrap(threadId, chunks)) showChunk(chunk)
    },
    async recover() {},
    async read(threadId) {
      return toReloaded(load(threadId))
    },
    async close() {
      db.close()
    },
  }
}
